package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is an entry of added_tokens.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only where no letter or digit is beside it
	Left       bool   `json:"lstrip"`      // with the blanks to its left
	Right      bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"` // looked for in normalized text
	Special    bool   `json:"special"`
}

// matcher finds added tokens in a text: the leftmost first, and of those the longest.
type matcher struct {
	next  map[uint64]int32 // node of the trie and byte -> node
	leafs map[int32]addedToken
}

func newMatcher() *matcher { return &matcher{map[uint64]int32{}, map[int32]addedToken{}} }

// add adds a token, found as content.
func (m *matcher) add(content string, a addedToken) {
	node := int32(0)
	for _, b := range []byte(content) {
		key := uint64(node)<<8 | uint64(b)
		if m.next[key] == 0 {
			m.next[key] = int32(len(m.next)) + 1
		}
		node = m.next[key]
	}
	m.leafs[node] = a
}

// longest returns the longest token at the start of text and its length.
func (m *matcher) longest(text string) (found addedToken, n int) {
	var node int32
	for i := range len(text) {
		var ok bool
		if node, ok = m.next[uint64(node)<<8|uint64(text[i])]; !ok {
			break
		}
		if a, ok := m.leafs[node]; ok {
			found, n = a, i+1
		}
	}
	return found, n
}

// part is a part of a text: an added token, or text between two.
type part struct {
	text string
	id   int // -1 for text
}

// split returns the parts of a text in order. None is empty.
func (m *matcher) split(text string) (all []part) {
	begin := 0
	for at := 0; at < len(text) && len(m.next) > 0; {
		a, n := m.longest(text[at:])
		if n == 0 {
			at++
			continue
		}
		from, to := at, at+n
		if a.SingleWord && (endsWord(text[:from]) || beginsWord(text[to:])) {
			at = to
			continue
		}
		if a.Left {
			from = begin + len(strings.TrimRightFunc(text[begin:from], unicode.IsSpace))
		}
		if a.Right {
			to = len(text) - len(strings.TrimLeftFunc(text[to:], unicode.IsSpace))
		}
		if begin < from {
			all = append(all, part{text[begin:from], -1})
		}
		all = append(all, part{text[from:to], a.ID})
		at, begin = to, to
	}
	if begin < len(text) {
		all = append(all, part{text[begin:], -1})
	}
	return all
}

func beginsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && isWord(r)
}

func endsWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && isWord(r)
}

func isWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc) }
