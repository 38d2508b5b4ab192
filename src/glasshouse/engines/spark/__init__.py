"""The same questions on Apache Spark, for data that may not leave their cluster: the extra ``spark``."""
