//! Drawings of random graphs: nothing stands on anything else, every line leads from its source to its target.
