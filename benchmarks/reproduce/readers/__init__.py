"""Readers of corpora that published tables need: MCN, ShARe/CLEF, TAC 2017, MANTRA, and trials.

They import each other by relative names: `reproduce` uses them from here, and ``pip install
benchmarks/reproduce/readers`` makes a package of them, whose formats `canonym` then reads.
"""
