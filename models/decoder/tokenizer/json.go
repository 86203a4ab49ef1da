package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// tokenizerFile is a tokenizer.json.
type tokenizerFile struct {
	Added         []addedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         *struct {
		Type         string          `json:"type"`
		Vocab        json.RawMessage `json:"vocab"` // of a BPE an object of tokens and ids
		Merges       []pair          `json:"merges"`
		Dropout      *float64        `json:"dropout"`
		Unknown      *string         `json:"unk_token"`
		Prefix       *string         `json:"continuing_subword_prefix"`
		Suffix       *string         `json:"end_of_word_suffix"`
		Fuse         bool            `json:"fuse_unk"`
		Fallback     bool            `json:"byte_fallback"`
		IgnoreMerges bool            `json:"ignore_merges"`
	} `json:"model"`
}

// pair is a merge: "a b" or ["a", "b"].
type pair [2]string

func (p *pair) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var all []string
		if err := json.Unmarshal(b, &all); err != nil {
			return err
		}
		if len(all) != 2 {
			return fmt.Errorf("a merge of %d tokens", len(all))
		}
		copy(p[:], all)
		return nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	left, right, ok := strings.Cut(text, " ")
	if !ok || strings.Contains(right, " ") {
		return fmt.Errorf("the merge %.40q is not two tokens", text)
	}
	*p = pair{left, right}
	return nil
}

// parse parses a tokenizer.json.
func parse(data []byte) (*Tokenizer, error) {
	var f tokenizerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, jsonFault(err)
	}
	t := &Tokenizer{plain: newMatcher(), normal: newMatcher()}
	if err := t.readModel(&f); err != nil {
		return nil, err
	}
	for _, field := range []struct {
		name string
		raw  json.RawMessage
		read func([]component) error
	}{
		{"normalizer", f.Normalizer, t.readNormalizer},
		{"added_tokens", nil, func([]component) error { return t.readAdded(f.Added) }}, // which are normalized
		{"pre_tokenizer", f.PreTokenizer, t.readSplitters},
		{"post_processor", f.PostProcessor, t.readTemplate},
		{"decoder", f.Decoder, t.readDecoder},
	} {
		all, err := flatten(field.name, field.raw, 0)
		if err == nil {
			err = field.read(all)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.name, err)
		}
	}
	return t, nil
}

// jsonFault says what is wrong with a text in the words of JSON.
func jsonFault(err error) error {
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		return fmt.Errorf("%s is a JSON %s", kind.Field, kind.Value)
	}
	return fmt.Errorf("no JSON: %w", err)
}

// readModel reads the vocabulary and its merges.
func (t *Tokenizer) readModel(f *tokenizerFile) error {
	m := f.Model
	empty := func(s *string) bool { return s == nil || *s == "" }
	switch {
	case m == nil:
		return errors.New("no model")
	case m.Type != "BPE" && (m.Type != "" || len(m.Merges) == 0): // older files have no type
		return fmt.Errorf("model %q is not supported", m.Type)
	case m.Dropout != nil && *m.Dropout != 0:
		return errors.New("model dropout is not supported")
	case !empty(m.Prefix):
		return errors.New("model continuing_subword_prefix is not supported")
	case !empty(m.Suffix):
		return errors.New("model end_of_word_suffix is not supported")
	}
	var vocab map[string]int64
	if m.Vocab == nil {
		return errors.New("no vocab")
	}
	if err := json.Unmarshal(m.Vocab, &vocab); err != nil {
		return fmt.Errorf("vocab: %w", jsonFault(err))
	}
	if len(vocab) > maxVocabulary || len(m.Merges) > maxMerges || len(f.Added) > maxAdded {
		return fmt.Errorf("%d tokens, %d merges, %d added tokens; %d, %d, %d are allowed", len(vocab), len(m.Merges),
			len(f.Added), maxVocabulary, maxMerges, maxAdded)
	}
	size := int64(0)
	for token, id := range vocab {
		if id < 0 || id >= maxVocabulary || token == "" {
			return fmt.Errorf("the token %.40q has id %d", token, id)
		}
		size = max(size, id+1)
	}
	for _, a := range f.Added {
		if a.ID < 0 || a.ID >= maxVocabulary || a.Content == "" || len(a.Content) > maxToken {
			return fmt.Errorf("the added token %.40q has id %d", a.Content, a.ID)
		}
		size = max(size, int64(a.ID)+1)
	}
	t.ids, t.tokens = make(map[string]int32, len(vocab)), make([]string, size)
	for token, id := range vocab {
		if other := t.tokens[id]; other != "" {
			return fmt.Errorf("the tokens %.40q and %.40q have id %d", min(token, other), max(token, other), id)
		}
		t.ids[token], t.tokens[id] = int32(id), token
	}
	b := bpe{ids: t.ids, merges: make(map[[2]int32]merge, len(m.Merges)), fallback: m.Fallback,
		ignoreMerges: m.IgnoreMerges, fuse: m.Fuse, unknown: -1}
	for rank, p := range m.Merges {
		left, ok := t.ids[p[0]]
		right, also := t.ids[p[1]]
		id, made := t.ids[p[0]+p[1]]
		if !ok || !also || !made {
			return fmt.Errorf("the merge of %.40q and %.40q has a token that the vocabulary lacks", p[0], p[1])
		}
		b.merges[[2]int32{left, right}] = merge{int32(rank), id}
	}
	for i := range b.bytes {
		id, ok := t.ids[fmt.Sprintf("<0x%02X>", i)]
		if b.bytes[i] = -1; ok {
			b.bytes[i] = id
		}
	}
	if !empty(m.Unknown) {
		id, ok := t.ids[*m.Unknown]
		for _, a := range f.Added {
			if !ok && a.Content == *m.Unknown {
				id, ok = int32(a.ID), true
			}
		}
		if !ok {
			return fmt.Errorf("unk_token %.40q is not a token", *m.Unknown)
		}
		b.unknown = id
	}
	t.bpe = b
	return nil
}

// readAdded reads added_tokens.
func (t *Tokenizer) readAdded(all []addedToken) error {
	t.added = make(map[int]addedToken, len(all))
	for _, a := range all {
		if old, ok := t.added[a.ID]; ok && old.Content != a.Content {
			return fmt.Errorf("the added tokens %.40q and %.40q have id %d", old.Content, a.Content, a.ID)
		}
		if old := t.tokens[a.ID]; old != "" && old != a.Content {
			return fmt.Errorf("the added token %.40q has id %d of the token %.40q", a.Content, a.ID, old)
		}
		t.added[a.ID], t.tokens[a.ID] = a, a.Content
		if !a.Normalized {
			t.plain.add(a.Content, a)
			continue
		}
		content, err := normalize(t.normalizer, a.Content)
		if err != nil {
			return err
		}
		t.normal.add(content, a)
	}
	return nil
}
