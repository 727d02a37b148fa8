"""From trained weights to a bundle: its files, its card, and the checks that it decides as the trained model does."""
