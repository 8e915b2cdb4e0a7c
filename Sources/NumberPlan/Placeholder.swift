// placeholder, replaced by the first file of this target
