"""The model of `fastsql.model` in PyTorch, for padded batches; parameters carry the names of the weights in a bundle."""
