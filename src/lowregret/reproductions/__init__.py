"""Reproductions of papers: a folder is a paper, and no code of a paper is in the package.

``reproductions/`` at the root of the repository, which travels in the wheel, has a folder for each paper:
``reproduction.toml`` (`sheet.Sheet`), experiment files, ``published.csv`` (`published`), what the package
lacks, and the verdicts (``expected.csv``). `reproduce.reproduce` simulates the files from one queue and
judges numbers (`numbers`) and claims (`claims`), both by what `quantities` takes from the runs; `page`
shows them. What a paper shows beside these, its own function ``more`` adds, as the EUCBV paper's does.
"""
