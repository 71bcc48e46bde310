"""Text of a mention to the strings that are looked up.

One file for each obstacle between a mention and a name: abbreviations defined in the document, the
dose and form of a trial field, several concepts in one phrase, spelling. `prepare` runs them in
order and records what each did.
"""
