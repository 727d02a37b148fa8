"""A starting encoder for another language: an English one, with that language's words where their English glosses lie."""
