"""One module for each version of the schema, in the order of their numbers."""
