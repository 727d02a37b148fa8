"""What is learned from: data sets read, their SQL as programs, literals that recur, and what is held out."""
