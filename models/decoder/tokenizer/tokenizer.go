// Package tokenizer converts text to token ids and back, as the file tokenizer.json of a model's folder says.
//
// It has the parts of byte-pair encodings that the models of package decoder are published with:
//
//   - Model: BPE, with merges as strings or pairs, byte_fallback and ignore_merges.
//   - Normalizers: NFC, NFD, NFKC, NFKD, Prepend, Replace.
//   - Pre-tokenizers: Split, ByteLevel, Metaspace, Digits.
//   - Post-processors: ByteLevel, TemplateProcessing for a single text.
//   - Decoders: ByteLevel, Metaspace, Replace, ByteFallback, Fuse, Strip of the left end. Without a decoder a space
//     separates two tokens.
//
// Each may be in a Sequence. The error for any other part names it. The fields truncation and padding, which are for
// batches of texts, are ignored.
package tokenizer

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/wholefile"
)

// Tokenizer converts text to token ids and back. It is read-only: several goroutines may use it.
type Tokenizer struct {
	ids    map[string]int32 // of the model's vocabulary
	tokens []string         // by id; empty for none
	added  map[int]addedToken

	plain      *matcher // added tokens that are looked for in the text as it is
	normal     *matcher // and in normalized text
	normalizer []normalizer
	splitter   []splitter
	bpe        bpe
	prefix     []int // special tokens before and after the text
	suffix     []int
	decoder    detokenizer
}

// Budgets of a tokenizer.json and of a text.
const (
	maxFile       = 64 << 20 // bytes; those of vocabularies of 256,000 tokens have 35 MB
	maxVocabulary = 1 << 21  // ids
	maxMerges     = 1 << 22
	maxAdded      = 1 << 16 // added tokens
	maxToken      = 1 << 10 // bytes of an added token
	maxParts      = 64      // components of a pipeline, such as normalizers
	maxNested     = 8       // Sequence in Sequence
	maxPattern    = 1 << 12 // bytes of a pattern
	maxText       = 16 << 20
)

// Read reads a tokenizer.json of at most 64 MiB. The error matches ErrUnusable.
func Read(path string) (*Tokenizer, error) {
	const op = "read"
	data, err := wholefile.Read(path, maxFile)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: op, Err: ErrUnusable, Cause: err,
			Hint: "put tokenizer.json into the model's folder, or give token ids"}, Name: path}
	}
	t, err := parse(data)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: op, Err: ErrUnusable, Cause: err,
			Hint: "give token ids that another program made"}, Name: path}
	}
	return t, nil
}

// Token returns a token as the vocabulary writes it, and whether the id has one.
func (t *Tokenizer) Token(id int) (token string, ok bool) {
	if id < 0 || id >= len(t.tokens) {
		return "", false
	}
	return t.tokens[id], t.tokens[id] != ""
}

// Encode returns the ids of a text, between the special tokens that the file's template puts around one text, such as
// the token for its start. The names of special tokens inside the text become these tokens. Bytes that are not UTF-8
// become U+FFFD. A vocabulary without a token for unknown characters omits those that it lacks. The error matches
// ErrUnusable: a text of more than 16 MiB, also after its normalization.
func (t *Tokenizer) Encode(text string) ([]int, error) { return t.encode(text, t.prefix, t.suffix) }

// EncodeBare returns the ids of a text that has its special tokens already, such as a rendered chat template: as Encode
// does, without those around the text. The error matches ErrUnusable, as that of Encode.
func (t *Tokenizer) EncodeBare(text string) ([]int, error) { return t.encode(text, nil, nil) }

func (t *Tokenizer) encode(text string, prefix, suffix []int) ([]int, error) {
	ids, err := t.inner(text, slices.Clone(prefix))
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: "encode", Err: ErrUnusable, Cause: err}}
	}
	return append(ids, suffix...), nil
}

// inner appends the ids of a text to out.
func (t *Tokenizer) inner(text string, out []int) ([]int, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("a text of %d bytes; %d are allowed", len(text), maxText)
	}
	if !utf8.ValidString(text) {
		text = toUTF8(text)
	}
	for i, p := range t.plain.split(text) {
		if p.id >= 0 {
			out = append(out, p.id)
			continue
		}
		normalized, err := normalize(t.normalizer, p.text)
		if err != nil {
			return nil, err
		}
		for j, p := range t.normal.split(normalized) {
			if p.id >= 0 {
				out = append(out, p.id)
				continue
			}
			words, err := t.words(p.text, i == 0 && j == 0)
			if err != nil {
				return nil, err
			}
			for _, word := range words {
				out = t.bpe.encode(out, word)
			}
		}
	}
	return out, nil
}

// words applies the pre-tokenizers one after another. first says that the text begins the one that Encode was given.
func (t *Tokenizer) words(text string, first bool) ([]string, error) {
	words := []string{text}
	for _, split := range t.splitter {
		var next []string
		for i, word := range words {
			next = split(next, word, first && i == 0)
		}
		size := 0
		for _, word := range next {
			size += len(word)
		}
		if size > 4*maxText {
			return nil, fmt.Errorf("a text that becomes longer than %d bytes", 4*maxText)
		}
		words = next
	}
	return words, nil
}

// Decode returns the text of ids. It omits special tokens and ids without a token; bytes that are not UTF-8
// become U+FFFD.
func (t *Tokenizer) Decode(ids []int) string {
	s := t.Stream()
	var out []byte
	for _, id := range ids {
		out = append(out, s.Next(id)...)
	}
	return string(append(out, s.Flush()...))
}

// Stream decodes tokens one by one. One goroutine at a time uses it.
type Stream struct {
	t       *Tokenizer
	begun   bool   // a token was decoded
	strip   int    // characters still to be stripped from the start of the text
	pending []byte // the first bytes of a character whose other bytes are in later tokens
}

// Stream returns a Stream after the tokens before, such as those of a prompt. It does not return their text again, but
// uses it to decide whether a leading space belongs to the text.
func (t *Tokenizer) Stream(before ...int) *Stream {
	s := &Stream{t: t, strip: t.decoder.strip}
	for _, id := range before {
		s.Next(id)
	}
	return s
}

// Next returns the text that a token completes. It is empty while a character lacks bytes, and for special tokens.
func (s *Stream) Next(id int) string {
	token, ok := s.t.Token(id)
	if !ok || s.t.added[id].Special {
		return ""
	}
	text, raw := s.t.decoder.piece(token, !s.begun)
	s.begun = true
	for !raw && s.strip > 0 && len(s.pending) == 0 && text != "" {
		r, n := utf8.DecodeRuneInString(text)
		if r != s.t.decoder.stripped {
			s.strip = 0
			break
		}
		text, s.strip = text[n:], s.strip-1
	}
	if raw {
		s.strip = 0
	}
	s.pending = append(s.pending, text...)
	out, n := complete(s.pending, false)
	s.pending = append(s.pending[:0], s.pending[n:]...)
	return out
}

// Flush returns U+FFFD for the bytes of a character that stays incomplete, and empties the Stream of them.
func (s *Stream) Flush() string {
	out, _ := complete(s.pending, true)
	s.pending = s.pending[:0]
	return out
}

// complete returns the characters of b, U+FFFD for each maximal invalid part, and the number of their bytes. At
// the end of the text an incomplete character is one of these parts, elsewhere it stays.
func complete(b []byte, end bool) (text string, n int) {
	if utf8.Valid(b) {
		return string(b), len(b)
	}
	var out []byte
	for n < len(b) {
		rest := b[n:]
		if !end && !utf8.FullRune(rest) {
			break
		}
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			for size < len(rest) && !utf8.FullRune(rest[:size+1]) {
				size++
			}
		}
		out = utf8.AppendRune(out, r)
		n += size
	}
	return string(out), n
}

// toUTF8 replaces the bytes of s that are not UTF-8.
func toUTF8(s string) string {
	out, _ := complete([]byte(s), true)
	return out
}
