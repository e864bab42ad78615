"""The cases, by kind of program."""
