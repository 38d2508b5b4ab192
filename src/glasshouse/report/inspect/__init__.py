"""What a file holds, before anything is asked of it: for a terminal, and as a page."""
