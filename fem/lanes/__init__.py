"""Numbers that are many: packs of lanes, so that one kernel source runs one model or several at once.

Kernels that serve both decide on numbers with ``where``, ``some``, ``every`` and ``common`` in place of ``if``: a
branch on a comparison of packs does not compile. Arrays whose shape or content is part of their type let the compiler
unroll every loop over nodes and bars, at the price of a compilation for every shape of model.
"""
