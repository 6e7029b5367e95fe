"""What a published data set needs besides its tables.

`croissant` describes it for machines, `rai` how the answers came about, `dataset_card` for `datasets` of
Hugging Face, `model_card` has the scores for the models' cards, `citation` how to cite it.
"""
