"""The driver that runs neardup on Spark."""
