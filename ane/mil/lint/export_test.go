package lint

const MaxFindings = maxFindings

func Apply(src []byte, edits []Edit) []byte { return apply(src, edits) }
