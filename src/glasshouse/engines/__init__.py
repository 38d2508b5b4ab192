"""Where the records of a release may wait other than on this machine: imported only where it is asked for."""
