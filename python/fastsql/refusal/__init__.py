"""What a refusal says: what is missing, in one sentence, and what would help.

suggestions     the kinds of help, as data
texts           their sentences, by language
values          values that the question says and no dictionary holds
words           words that nothing in the schema is called
describe        a query in words
"""
