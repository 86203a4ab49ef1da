package decoder

import (
	"fmt"
	"unicode/utf8"
)

// Tokenizer converts text to token ids and back, as the file tokenizer.json of a model's folder says. It is
// read-only: several goroutines may use it.
//
// It has the parts of byte-pair encodings that the models of this package are published with. Model: BPE, with merges
// as strings or pairs, byte_fallback and ignore_merges. Normalizers: NFC, NFD, NFKC, NFKD, Prepend, Replace.
// Pre-tokenizers: Split, ByteLevel, Metaspace, Digits. Post-processors: ByteLevel, TemplateProcessing for a single
// text. Decoders: ByteLevel, Metaspace, Replace, ByteFallback, Fuse, Strip of the left end. Each also in a Sequence.
// Without a decoder a space separates two tokens. The error for any other part names it. The fields truncation
// and padding are ignored.
type Tokenizer struct {
	ids    map[string]int32 // of the model's vocabulary
	tokens []string         // by id; empty for none
	added  map[int]addedToken

	literal    *matcher // added tokens that are looked for in the text as it is
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
	maxTokenizerFile = 64 << 20 // bytes; those of vocabularies of 256,000 tokens have 35 MB
	maxVocabulary    = 1 << 21  // ids
	maxMerges        = 1 << 22
	maxAdded         = 1 << 16 // added tokens
	maxToken         = 1 << 10 // bytes of an added token
	maxParts         = 64      // components of a pipeline, such as normalizers
	maxNested        = 8       // Sequence in Sequence
	maxPattern       = 1 << 12 // bytes of a pattern
	maxText          = 16 << 20
)

// ReadTokenizer reads a tokenizer.json of at most 64 MiB. The error matches ErrTokenizer.
func ReadTokenizer(path string) (*Tokenizer, error) {
	const op = "read tokenizer"
	data, err := readRegular(path, maxTokenizerFile)
	if err != nil {
		return nil, &Error{Op: op, Name: path, Err: ErrTokenizer, Cause: err,
			Hint: "put tokenizer.json into the model's folder, or give token ids"}
	}
	t, err := parseTokenizer(data)
	if err != nil {
		return nil, &Error{Op: op, Name: path, Err: ErrTokenizer, Cause: err,
			Hint: "give token ids that another program made"}
	}
	return t, nil
}

// Size is the number of ids: the highest id and one.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// ID returns the id of a token of the vocabulary or of an added token.
func (t *Tokenizer) ID(token string) (id int, ok bool) {
	for id, a := range t.added {
		if a.Content == token {
			return id, true
		}
	}
	i, ok := t.ids[token]
	return int(i), ok
}

// Token returns a token as the vocabulary writes it, and whether the id has one.
func (t *Tokenizer) Token(id int) (token string, ok bool) {
	if id < 0 || id >= len(t.tokens) {
		return "", false
	}
	return t.tokens[id], t.tokens[id] != ""
}

// Special reports whether id is a special token, which Decode omits.
func (t *Tokenizer) Special(id int) bool { return t.added[id].Special }

// BOS returns the token that Encode puts before every text, if any.
func (t *Tokenizer) BOS() (id int, ok bool) {
	if len(t.prefix) == 0 {
		return 0, false
	}
	return t.prefix[0], true
}

// Encode returns the ids of a text, between the special tokens that the template of the file puts around one text,
// such as the token for the start of a text. The names of special tokens inside the text become these tokens. Bytes
// that are not UTF-8 become U+FFFD. The error matches ErrTokenizer: a text of more than 16 MiB, also after its
// normalization, or a character that the vocabulary cannot express.
func (t *Tokenizer) Encode(text string) ([]int, error) {
	ids, err := t.encode(text)
	if err != nil {
		return nil, &Error{Op: "encode", Err: ErrTokenizer, Cause: err}
	}
	return ids, nil
}

func (t *Tokenizer) encode(text string) ([]int, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("a text of %d bytes; %d are allowed", len(text), maxText)
	}
	if !utf8.ValidString(text) {
		text = toUTF8(text)
	}
	out := append([]int(nil), t.prefix...)
	err := t.literal.split(text, func(at int, part string, id int) error {
		if id >= 0 {
			out = append(out, id)
			return nil
		}
		normalized, err := normalize(t.normalizer, part)
		if err != nil {
			return err
		}
		first := at == 0
		return t.normal.split(normalized, func(at int, part string, id int) error {
			if id >= 0 {
				out = append(out, id)
				return nil
			}
			return t.pieces(t.splitter, part, first && at == 0, func(word string) (err error) {
				out, err = t.bpe.encode(out, word)
				return err
			})
		})
	})
	if err != nil {
		return nil, err
	}
	return append(out, t.suffix...), nil
}

// pieces applies pre-tokenizers one after another and calls f for each word.
func (t *Tokenizer) pieces(all []splitter, text string, first bool, f func(string) error) error {
	if text == "" {
		return nil
	}
	if len(all) == 0 {
		return f(text)
	}
	if len(text) > 4*maxText {
		return fmt.Errorf("a text that becomes longer than %d bytes", 4*maxText)
	}
	begun := false
	return all[0](text, first, func(part string) error {
		at := first && !begun
		begun = true
		return t.pieces(all[1:], part, at, f)
	})
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

// Stream returns a Stream after the tokens before, such as those of a prompt: their text is not returned again,
// but decides whether a leading space belongs to the text.
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
	if !ok || s.t.Special(id) {
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
