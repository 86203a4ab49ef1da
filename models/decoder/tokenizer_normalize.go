package decoder

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// normalizer is one step between the text and its pre-tokenizers.
type normalizer func(text string) (string, error)

// normalize applies steps in order.
func normalize(all []normalizer, text string) (string, error) {
	for _, f := range all {
		var err error
		if text, err = f(text); err != nil {
			return "", err
		}
		if len(text) > maxText {
			return "", fmt.Errorf("the normalized text has %d bytes; %d are allowed", len(text), maxText)
		}
	}
	return text, nil
}

// form is NFC and its siblings.
func form(f norm.Form) normalizer {
	return func(text string) (string, error) { return f.String(text), nil }
}

// prepend is Prepend.
func prepend(s string) normalizer {
	return func(text string) (string, error) {
		if text == "" {
			return "", nil
		}
		return s + text, nil
	}
}

// replace is Replace: of every part that find matches.
func replace(find func(string) (int, int), with string) normalizer {
	return func(text string) (string, error) {
		all := spans(text, find)
		size := 0
		for _, s := range all {
			if s.match {
				size += len(with)
			} else {
				size += len(s.text)
			}
		}
		if size > maxText {
			return "", fmt.Errorf("the normalized text has %d bytes; %d are allowed", size, maxText)
		}
		var out strings.Builder
		out.Grow(size)
		for _, s := range all {
			if s.match {
				out.WriteString(with)
			} else {
				out.WriteString(s.text)
			}
		}
		return out.String(), nil
	}
}
