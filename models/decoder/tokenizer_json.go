package decoder

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
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

// component is a part of a pipeline; its type decides which fields count.
type component struct {
	Type           string                   `json:"type"`
	Normalizers    []json.RawMessage        `json:"normalizers"`
	PreTokenizers  []json.RawMessage        `json:"pretokenizers"`
	Processors     []json.RawMessage        `json:"processors"`
	Decoders       []json.RawMessage        `json:"decoders"`
	Prepend        string                   `json:"prepend"`
	Pattern        *patternText             `json:"pattern"`
	Content        string                   `json:"content"`
	Behavior       string                   `json:"behavior"`
	Invert         bool                     `json:"invert"`
	AddPrefixSpace *bool                    `json:"add_prefix_space"`
	UseRegex       *bool                    `json:"use_regex"`
	Replacement    string                   `json:"replacement"`
	PrependScheme  string                   `json:"prepend_scheme"`
	Split          *bool                    `json:"split"`
	Individual     bool                     `json:"individual_digits"`
	Start          int                      `json:"start"`
	Stop           int                      `json:"stop"`
	Single         []templatePart           `json:"single"`
	SpecialTokens  map[string]templateToken `json:"special_tokens"`
}

type patternText struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

type templatePart struct {
	SpecialToken *struct {
		ID string `json:"id"`
	} `json:"SpecialToken"`
	Sequence *struct {
		ID string `json:"id"`
	} `json:"Sequence"`
}

type templateToken struct {
	IDs []int `json:"ids"`
}

// find returns the search of a pattern.
func (p *patternText) find() (func(string) (int, int), error) {
	switch {
	case p != nil && p.Regex != nil:
		return pattern(*p.Regex)
	case p != nil && p.String != nil && *p.String != "" && len(*p.String) <= maxPattern:
		return literalPattern(*p.String), nil
	}
	return nil, errors.New("the pattern is empty")
}

// flatten lists the components of a field, those of a Sequence in its place.
func flatten(field string, raw json.RawMessage, depth int) (all []component, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var c component
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	if c.Type != "Sequence" {
		return []component{c}, nil
	}
	if depth >= maxNested {
		return nil, fmt.Errorf("%s: a Sequence in %d others", field, depth)
	}
	parts := map[string][]json.RawMessage{"normalizer": c.Normalizers, "pre_tokenizer": c.PreTokenizers,
		"post_processor": c.Processors, "decoder": c.Decoders}[field]
	for _, r := range parts {
		more, err := flatten(field, r, depth+1)
		if err != nil {
			return nil, err
		}
		if all = append(all, more...); len(all) > maxParts {
			return nil, fmt.Errorf("%s: more than %d parts", field, maxParts)
		}
	}
	return all, nil
}

// unsupported names a part that this package does not have.
func unsupported(field string, c component) error {
	return fmt.Errorf("%s %q is not supported", field, c.Type)
}

// parseTokenizer parses a tokenizer.json.
func parseTokenizer(data []byte) (*Tokenizer, error) {
	if len(data) > maxTokenizerFile {
		return nil, fmt.Errorf("a file of more than %d bytes", maxTokenizerFile)
	}
	var f tokenizerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, errors.New(jsonFault(err, data))
	}
	t := &Tokenizer{literal: newMatcher(), normal: newMatcher()}
	for _, step := range []func(*tokenizerFile) error{t.readModel, t.readNormalizer, t.readAdded, t.readSplitters,
		t.readTemplate, t.readDecoder} {
		if err := step(&f); err != nil {
			return nil, err
		}
	}
	return t, nil
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
		return fmt.Errorf("vocab: %s", jsonFault(err, m.Vocab))
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
		ignoreMerges: m.IgnoreMerges, fuse: m.Fuse}
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
		b.unknown, b.hasUnknown = id, true
	}
	t.bpe = b
	return nil
}

// readNormalizer reads the field normalizer.
func (t *Tokenizer) readNormalizer(f *tokenizerFile) error {
	const field = "normalizer"
	all, err := flatten(field, f.Normalizer, 0)
	for _, c := range all {
		switch c.Type {
		case "NFC":
			t.normalizer = append(t.normalizer, form(norm.NFC))
		case "NFD":
			t.normalizer = append(t.normalizer, form(norm.NFD))
		case "NFKC":
			t.normalizer = append(t.normalizer, form(norm.NFKC))
		case "NFKD":
			t.normalizer = append(t.normalizer, form(norm.NFKD))
		case "Prepend":
			t.normalizer = append(t.normalizer, prepend(c.Prepend))
		case "Replace":
			find, err := c.Pattern.find()
			if err != nil {
				return fmt.Errorf("%s Replace: %w", field, err)
			}
			t.normalizer = append(t.normalizer, replace(find, c.Content))
		default:
			return unsupported(field, c)
		}
	}
	return err
}

// readAdded reads added_tokens.
func (t *Tokenizer) readAdded(f *tokenizerFile) error {
	t.added = make(map[int]addedToken, len(f.Added))
	for _, a := range f.Added {
		if old, ok := t.added[a.ID]; ok && old.Content != a.Content {
			return fmt.Errorf("the added tokens %.40q and %.40q have id %d", old.Content, a.Content, a.ID)
		}
		if old := t.tokens[a.ID]; old != "" && old != a.Content {
			return fmt.Errorf("the added token %.40q has id %d of the token %.40q", a.Content, a.ID, old)
		}
		t.added[a.ID], t.tokens[a.ID] = a, a.Content
		if !a.Normalized {
			t.literal.add(a.Content, a)
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

// readSplitters reads the field pre_tokenizer.
func (t *Tokenizer) readSplitters(f *tokenizerFile) error {
	const field = "pre_tokenizer"
	all, err := flatten(field, f.PreTokenizer, 0)
	for _, c := range all {
		switch c.Type {
		case "Split":
			find, err := c.Pattern.find()
			if err != nil {
				return fmt.Errorf("%s Split: %w", field, err)
			}
			if !slices.Contains(behaviors[:], c.Behavior) {
				return fmt.Errorf("%s Split: behavior %.40q is not supported", field, c.Behavior)
			}
			t.splitter = append(t.splitter, splitBy(find, c.Behavior, c.Invert))
		case "ByteLevel":
			var words func(string) (int, int)
			if c.UseRegex == nil || *c.UseRegex {
				if words, err = pattern(gpt2); err != nil {
					return err
				}
			}
			t.splitter = append(t.splitter, byteLevel(c.AddPrefixSpace == nil || *c.AddPrefixSpace, words))
		case "Metaspace":
			char, scheme, err := c.metaspace(field)
			if err != nil {
				return err
			}
			t.splitter = append(t.splitter, metaspace(char, scheme, c.Split == nil || *c.Split))
		case "Digits":
			t.splitter = append(t.splitter, digits(c.Individual))
		default:
			return unsupported(field, c)
		}
	}
	return err
}

// metaspace returns the character and the scheme of a Metaspace.
func (c component) metaspace(field string) (char, scheme string, err error) {
	char, scheme = c.Replacement, c.PrependScheme
	if _, ok := oneRune(char); !ok {
		return "", "", fmt.Errorf("%s Metaspace: replacement %.40q is not one character", field, char)
	}
	switch {
	case scheme == "" && c.AddPrefixSpace != nil && !*c.AddPrefixSpace:
		scheme = "never"
	case scheme == "":
		scheme = "always"
	case scheme != "always" && scheme != "first" && scheme != "never":
		return "", "", fmt.Errorf("%s Metaspace: prepend_scheme %.40q is not supported", field, scheme)
	}
	return char, scheme, nil
}

// readTemplate reads the field post_processor.
func (t *Tokenizer) readTemplate(f *tokenizerFile) error {
	const field = "post_processor"
	all, err := flatten(field, f.PostProcessor, 0)
	seen := false
	for _, c := range all {
		switch c.Type {
		case "ByteLevel": // changes offsets alone
			continue
		case "TemplateProcessing":
		default:
			return unsupported(field, c)
		}
		if seen {
			return fmt.Errorf("%s: a second TemplateProcessing is not supported", field)
		}
		seen = true
		texts := 0
		for _, p := range c.Single {
			switch {
			case p.Sequence != nil:
				texts++
			case p.SpecialToken != nil:
				special, ok := c.SpecialTokens[p.SpecialToken.ID]
				if !ok || len(special.IDs) > maxParts {
					return fmt.Errorf("%s: no special token %.40q", field, p.SpecialToken.ID)
				}
				for _, id := range special.IDs {
					if _, ok := t.Token(id); !ok {
						return fmt.Errorf("%s: no token has id %d", field, id)
					}
				}
				if texts == 0 {
					t.prefix = append(t.prefix, special.IDs...)
				} else {
					t.suffix = append(t.suffix, special.IDs...)
				}
			default:
				return fmt.Errorf("%s: a template with an unknown part", field)
			}
		}
		if texts != 1 || len(c.Single) > maxParts {
			return fmt.Errorf("%s: a template with %d texts", field, texts)
		}
	}
	return err
}

// readDecoder reads the field decoder.
func (t *Tokenizer) readDecoder(f *tokenizerFile) error {
	const field = "decoder"
	all, err := flatten(field, f.Decoder, 0)
	d := &t.decoder
	d.apart = err == nil && len(all) == 0
	fused := false
	for i, c := range all {
		if late := fused && c.Type != "Strip"; late || d.byteLevel != nil || d.space != "" {
			return fmt.Errorf("%s: %s after %s is not supported", field, c.Type, all[i-1].Type)
		}
		switch c.Type {
		case "ByteLevel":
			_, d.byteLevel = alphabet()
		case "Metaspace":
			char, scheme, err := c.metaspace(field)
			if err != nil {
				return err
			}
			d.space, d.drop = char, scheme != "never"
		case "Replace":
			if c.Pattern == nil || c.Pattern.String == nil || *c.Pattern.String == "" || d.fallback ||
				len(c.Content) > len(*c.Pattern.String) {
				return fmt.Errorf("%s Replace: only of a string with one that is not longer", field)
			}
			d.replace = append(d.replace, [2]string{*c.Pattern.String, c.Content})
		case "ByteFallback":
			d.fallback = true
		case "Fuse":
			fused = true
		case "Strip":
			char, ok := oneRune(c.Content)
			if !fused || !ok || c.Stop != 0 || c.Start < 0 || c.Start > maxText || d.strip > 0 {
				return fmt.Errorf("%s Strip: only of one character, after Fuse, at the left end", field)
			}
			d.stripped, d.strip = char, c.Start
		default:
			return unsupported(field, c)
		}
	}
	return err
}
