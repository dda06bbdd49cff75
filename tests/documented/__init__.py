"""The commands of README.md, CONTRIBUTING.md and doc/: found, checked, given to their tests."""
