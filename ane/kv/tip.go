package kv

// tip is the end of a snapshot on disk that the cache continues.
type tip struct {
	id   string // of the last part; empty if the cache continues none
	next int    // the position after its tokens
}

// cut notes that the cache ends at next.
func (t *tip) cut(next int) {
	if next < t.next {
		*t = tip{}
	}
}
