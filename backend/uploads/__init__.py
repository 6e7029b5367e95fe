"""Archives of pictures, received in parts."""
