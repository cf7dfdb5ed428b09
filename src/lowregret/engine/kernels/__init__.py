"""All that results depend on, and nothing else: the stored results of experiments are named by this code.

No error message, no thread, no file belongs here. Functions are plain Python that also compiles.
"""
