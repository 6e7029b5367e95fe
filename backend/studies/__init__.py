"""What is stored of a study beside its record and sessions, and what several services read or write.

In is what more than one of the packages above needs, a book or a field of the store in each module: begun,
closed, paused, who waits, who withdrew, which slots were lost, what the next session is drawn from. Out is
what one service alone needs, which is in its package: what is owed (`payment`), recruitment (`recruitment`),
terms of submissions (`standing`). `tests/unit/test_layers.py` holds it.
"""
