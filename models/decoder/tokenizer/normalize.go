package tokenizer

import (
	"fmt"
	"strings"
)

// normalizer is one step between the text and its pre-tokenizers.
type normalizer func(text string) string

// normalize applies steps in order.
func normalize(all []normalizer, text string) (string, error) {
	for _, f := range all {
		if text = f(text); len(text) > maxText {
			return "", fmt.Errorf("the normalized text is longer than %d bytes", maxText)
		}
	}
	return text, nil
}

// prepend is Prepend.
func prepend(s string) normalizer {
	return func(text string) string {
		if text == "" {
			return ""
		}
		return s + text
	}
}

// replace is Replace: of every part that find matches. It ends when the text becomes too long.
func replace(find finder, with string) normalizer {
	return func(text string) string {
		var out strings.Builder
		for _, s := range spans(text, find) {
			if s.match {
				s.text = with
			}
			out.WriteString(s.text)
			if out.Len() > maxText {
				break
			}
		}
		return out.String()
	}
}
