"""What the program's pages share: their frame and style, pictures, ROC curves, whole writes."""
