// Lesson 02: a file that is text to Python.
