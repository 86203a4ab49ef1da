package safetensors

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"unicode/utf8"
)

// names is a set of strings of a text. It finds one that occurs twice in a time that does not depend on what the
// strings have in common, and takes 5/9 of a long text's length at most.
type names struct {
	text  []byte
	seed  maphash.Seed
	slots []uint32 // the offset of a string, which is never 0, and above it bits of its hash

	pending [32]struct {
		sum uint64
		at  int
	}
	n        int // of pending
	fetched  uint32
	compared int // strings with each other
}

// newNames makes the set of the names in the object of strings at an offset of text.
func newNames(text []byte, at int) *names {
	// Every name takes 6 bytes besides its own. Fewer than 11,000 names have less than three, so n that differ take
	// 9 n - 11,200 bytes or more: up to the first that occurs twice, each finds a free slot.
	object := text[at:]
	n := min(bytes.Count(object, []byte{':'}), len(object)/6, len(object)/9+1300)
	return &names{text: text, seed: maphash.MakeSeed(), slots: make([]uint32, n+n/4+len(names{}.pending)+1)}
}

// add adds the string at an offset of the text, raw between its quotes. It returns the offset of one that occurs
// twice among those added so far, or 0.
func (s *names) add(at int, raw []byte) int {
	p := &s.pending[s.n]
	p.sum, p.at = s.hash(raw), at
	if s.n++; s.n == len(s.pending) {
		return s.flush()
	}
	return 0
}

// slot is the first slot of a string.
func (s *names) slot(sum uint64) int {
	high, _ := bits.Mul64(sum, uint64(len(s.slots)))
	return int(high)
}

// flush puts pending strings into their slots. The processor fetches the slots of all of them at once, which are
// rarely in a cache.
func (s *names) flush() int {
	for _, p := range s.pending[:s.n] {
		s.fetched |= s.slots[s.slot(p.sum)]
	}
	for _, p := range s.pending[:s.n] {
		if !s.put(p.sum, p.at) {
			return p.at
		}
	}
	s.n = 0
	return 0
}

// put returns false if the set has the string.
func (s *names) put(sum uint64, at int) bool {
	tag := uint32(sum) << offsetBits
	for i := s.slot(sum); ; i++ {
		if i == len(s.slots) {
			i = 0
		}
		v := s.slots[i]
		if v == 0 {
			s.slots[i] = tag | uint32(at)
			return true
		}
		if v>>offsetBits != tag>>offsetBits {
			continue
		}
		s.compared++
		if compareStrings(s.text[v&(1<<offsetBits-1)+1:], s.text[at+1:]) == 0 {
			return false
		}
	}
}

// offsetBits is the number of bits of an offset in a header.
const offsetBits = 27

// hash is the hash of a string without its escapes.
func (s *names) hash(raw []byte) uint64 {
	if bytes.IndexByte(raw, '\\') < 0 {
		return maphash.Bytes(s.seed, raw)
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	b := make([]byte, 0, utf8.UTFMax)
	for len(raw) > 0 {
		if raw[0] != '\\' {
			_ = h.WriteByte(raw[0]) // it does not fail
			raw = raw[1:]
			continue
		}
		r, n := unescape(raw)
		_, _ = h.Write(utf8.AppendRune(b[:0], r))
		raw = raw[n:]
	}
	return h.Sum64()
}
