"""What several packages need: checks of input, files, text and progress. What one package needs is in it."""
