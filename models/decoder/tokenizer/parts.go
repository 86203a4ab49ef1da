package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/text/unicode/norm"
)

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

// templatePart is a special token or a text, by its name.
type templatePart struct {
	SpecialToken *templateName `json:"SpecialToken"`
	Sequence     *templateName `json:"Sequence"`
}

type templateName struct {
	ID string `json:"id"`
}

type templateToken struct {
	IDs []int `json:"ids"`
}

// find returns the search of a pattern.
func (p *patternText) find() (finder, error) {
	switch {
	case p != nil && p.Regex != nil:
		return pattern(*p.Regex)
	case p != nil && p.String != nil && *p.String != "" && len(*p.String) <= maxPattern:
		return literal(*p.String), nil
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
		return nil, err
	}
	if c.Type != "Sequence" {
		return []component{c}, nil
	}
	if depth >= maxNested {
		return nil, fmt.Errorf("a Sequence in %d others", depth)
	}
	parts := map[string][]json.RawMessage{"normalizer": c.Normalizers, "pre_tokenizer": c.PreTokenizers,
		"post_processor": c.Processors, "decoder": c.Decoders}[field]
	for _, r := range parts {
		more, err := flatten(field, r, depth+1)
		if err != nil {
			return nil, err
		}
		if all = append(all, more...); len(all) > maxParts {
			return nil, fmt.Errorf("more than %d parts", maxParts)
		}
	}
	return all, nil
}

// yes returns a setting whose default is true.
func yes(set *bool) bool { return set == nil || *set }

// unsupported names a part that this package does not have.
func unsupported(c component) error { return fmt.Errorf("%q is not supported", c.Type) }

// readNormalizer reads the field normalizer.
func (t *Tokenizer) readNormalizer(all []component) error {
	for _, c := range all {
		switch c.Type {
		case "NFC", "NFD", "NFKC", "NFKD":
			form := map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}[c.Type]
			t.normalizer = append(t.normalizer, form.String)
		case "Prepend":
			t.normalizer = append(t.normalizer, prepend(c.Prepend))
		case "Replace":
			find, err := c.Pattern.find()
			if err != nil {
				return fmt.Errorf("in Replace: %w", err)
			}
			t.normalizer = append(t.normalizer, replace(find, c.Content))
		default:
			return unsupported(c)
		}
	}
	return nil
}

// readSplitters reads the field pre_tokenizer.
func (t *Tokenizer) readSplitters(all []component) error {
	for _, c := range all {
		switch c.Type {
		case "Split":
			find, err := c.Pattern.find()
			if err != nil {
				return fmt.Errorf("in Split: %w", err)
			}
			if !slices.Contains(behaviors[:], c.Behavior) {
				return fmt.Errorf("in Split: behavior %.40q is not supported", c.Behavior)
			}
			t.splitter = append(t.splitter, splitBy(find, c.Behavior, c.Invert))
		case "ByteLevel":
			var words finder
			if yes(c.UseRegex) {
				var err error
				if words, err = pattern(gpt2); err != nil {
					return err
				}
			}
			t.splitter = append(t.splitter, byteLevel(yes(c.AddPrefixSpace), words))
		case "Metaspace":
			char, scheme, err := c.metaspace()
			if err != nil {
				return err
			}
			t.splitter = append(t.splitter, metaspace(char, scheme, yes(c.Split)))
		case "Digits":
			t.splitter = append(t.splitter, digits(c.Individual))
		default:
			return unsupported(c)
		}
	}
	return nil
}

// metaspace returns the character and the scheme of a Metaspace.
func (c component) metaspace() (char, scheme string, err error) {
	char, scheme = c.Replacement, c.PrependScheme
	if _, ok := oneRune(char); !ok {
		return "", "", fmt.Errorf("in Metaspace: replacement %.40q is not one character", char)
	}
	switch {
	case scheme == "" && !yes(c.AddPrefixSpace):
		scheme = "never"
	case scheme == "":
		scheme = "always"
	case scheme != "always" && scheme != "first" && scheme != "never":
		return "", "", fmt.Errorf("in Metaspace: prepend_scheme %.40q is not supported", scheme)
	}
	return char, scheme, nil
}

// readTemplate reads the field post_processor.
func (t *Tokenizer) readTemplate(all []component) error {
	seen := false
	for _, c := range all {
		switch c.Type {
		case "ByteLevel": // changes offsets alone
			continue
		case "TemplateProcessing":
		default:
			return unsupported(c)
		}
		if seen {
			return errors.New("a second TemplateProcessing is not supported")
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
					return fmt.Errorf("no special token %.40q", p.SpecialToken.ID)
				}
				for _, id := range special.IDs {
					if _, ok := t.Token(id); !ok {
						return fmt.Errorf("no token has id %d", id)
					}
				}
				if texts == 0 {
					t.prefix = append(t.prefix, special.IDs...)
				} else {
					t.suffix = append(t.suffix, special.IDs...)
				}
			default:
				return errors.New("a template with an unknown part")
			}
		}
		if texts != 1 || len(c.Single) > maxParts {
			return fmt.Errorf("a template with %d texts", texts)
		}
	}
	return nil
}

// readDecoder reads the field decoder.
func (t *Tokenizer) readDecoder(all []component) error {
	d := &t.decoder
	d.apart = len(all) == 0
	fused := false
	for i, c := range all {
		if late := fused && c.Type != "Strip"; late || d.byteLevel != nil || d.space != "" {
			return fmt.Errorf("%s after %s is not supported", c.Type, all[i-1].Type)
		}
		switch c.Type {
		case "ByteLevel":
			_, d.byteLevel = alphabet()
		case "Metaspace":
			char, scheme, err := c.metaspace()
			if err != nil {
				return err
			}
			d.space, d.drop = char, scheme != "never"
		case "Replace":
			if c.Pattern == nil || c.Pattern.String == nil || *c.Pattern.String == "" || d.fallback ||
				len(c.Content) > len(*c.Pattern.String) {
				return errors.New("in Replace: only of a string with one that is not longer")
			}
			d.replace = append(d.replace, [2]string{*c.Pattern.String, c.Content})
		case "ByteFallback":
			d.fallback = true
		case "Fuse":
			fused = true
		case "Strip":
			char, ok := oneRune(c.Content)
			if !fused || !ok || c.Stop != 0 || c.Start < 0 || c.Start > maxText || d.strip > 0 {
				return errors.New("in Strip: only of one character, after Fuse, at the left end")
			}
			d.stripped, d.strip = char, c.Start
		default:
			return unsupported(c)
		}
	}
	return nil
}
