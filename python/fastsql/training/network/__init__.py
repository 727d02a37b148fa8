"""The model of `fastsql.model` in PyTorch, for padded batches; parameters carry the names of the weights in a bundle.

Files and functions have the names of the reference's (attention, encoder, graph, decoder, model) and of the native core, to
be read side by side. `forward` runs them in order: a batch's schema is read with its questions here, where the reference
reads it once for all of them.
"""
