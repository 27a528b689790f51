"""What can be true of a mechanism: one file a notion, with its composition and its conversions to weaker notions.

The import order of this room is the conversion graph: bounded range → pure → approximate, mean-concentrated →
zero-concentrated → truncated → Rényi; Gaussian → loss → Rényi; everything → profile.
"""
