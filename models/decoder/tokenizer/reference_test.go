package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

//nolint:dupword // words that come twice
const corpus = `The quick brown fox jumps over the lazy dog. "It's the dog's own fault," they'd say: 12345 times!
	if (a != b) { return nil }   // tabs	and   blanks
Zürich über Straße, naïve café; 漢字とかな 漢字 привет привет 🙂🙂👍🏽

the the the they there then other mother another `

// train learns n merges of words by counting, the slow way.
func train(words []string, vocab map[string]int, n int) (merges [][2]string) {
	var all [][]string
	for _, w := range words {
		all = append(all, strings.Split(w, ""))
		for _, c := range all[len(all)-1] {
			if _, ok := vocab[c]; !ok {
				vocab[c] = len(vocab)
			}
		}
	}
	for range n {
		count := map[[2]string]int{}
		for _, w := range all {
			for i := range len(w) - 1 {
				count[[2]string{w[i], w[i+1]}]++
			}
		}
		best, most := [2]string{}, 1
		for p, c := range count {
			if c > most || c == most && c > 1 && (p[0]+"\x00"+p[1] < best[0]+"\x00"+best[1]) {
				best, most = p, c
			}
		}
		if most < 2 {
			return merges
		}
		merges = append(merges, best)
		if _, ok := vocab[best[0]+best[1]]; !ok {
			vocab[best[0]+best[1]] = len(vocab)
		}
		for k, w := range all {
			all[k] = mergeOne(w, best)
		}
	}
	return merges
}

// mergeOne merges every pair p of a word from left to right.
func mergeOne(w []string, p [2]string) (out []string) {
	for i := 0; i < len(w); i++ {
		if i+1 < len(w) && w[i] == p[0] && w[i+1] == p[1] {
			out = append(out, w[i]+w[i+1])
			i++
			continue
		}
		out = append(out, w[i])
	}
	return out
}

// naive encodes a word by the definition: the merge with the lowest rank that the word has anywhere, again and again.
func naive(w []string, merges [][2]string) []string {
	for {
		done := true
		for _, m := range merges {
			if next := mergeOne(w, m); len(next) < len(w) {
				w, done = next, false
				break
			}
		}
		if done {
			return w
		}
	}
}

// byteLevelFile is a tokenizer.json as Llama 3 and Qwen are published with.
func byteLevelFile(t *testing.T, pattern string) object {
	vocab := map[string]int{}
	chars, _ := alphabet()
	for _, c := range chars {
		vocab[string(c)] = len(vocab)
	}
	find, err := compileFind(pattern)
	require.NoError(t, err)
	words := byteLevel(false, find)(nil, corpus, true)
	merges := train(words, vocab, 60)
	var text []string
	for _, m := range merges {
		text = append(text, m[0]+" "+m[1])
	}
	bos, end := len(vocab), len(vocab)+1
	return object{"version": "1.0", "truncation": nil, "padding": nil,
		"added_tokens": []object{{"id": bos, "content": "<|begin_of_text|>", "special": true},
			{"id": end, "content": "<|eot_id|>", "special": true}},
		"normalizer": nil,
		"pre_tokenizer": object{"type": "Sequence", "pretokenizers": []object{
			{"type": "Split", "pattern": object{"Regex": pattern}, "behavior": "Isolated", "invert": false},
			{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}}},
		"post_processor": object{"type": "Sequence", "processors": []object{
			{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true},
			{"type": "TemplateProcessing",
				"single": []object{{"SpecialToken": object{"id": "<|begin_of_text|>", "type_id": 0}},
					{"Sequence": object{"id": "A", "type_id": 0}}},
				"special_tokens": object{"<|begin_of_text|>": object{"id": "<|begin_of_text|>", "ids": []int{bos},
					"tokens": []string{"<|begin_of_text|>"}}}}}},
		"decoder": object{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
		"model": object{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false, "ignore_merges": true,
			"vocab": vocab, "merges": text}}
}

// compileFind is pattern under a name that its parameter does not hide.
func compileFind(text string) (finder, error) { return pattern(text) }

// sentenceFile is a tokenizer.json as Llama 2 and TinyLlama are published with: no pre-tokenizer, and bytes for
// characters that the vocabulary lacks.
func sentenceFile() object {
	vocab := map[string]int{"<unk>": 0, "<s>": 1, "</s>": 2}
	for i := range 256 {
		vocab[fmt.Sprintf("<0x%02X>", i)] = len(vocab)
	}
	text := strings.NewReplacer(" ", "▁", "漢", "x", "🙂", "x", "\t", "", "\n", "").Replace(" " + corpus)
	merges := train([]string{text}, vocab, 80)
	return object{
		"added_tokens": []object{
			{"id": 0, "content": "<unk>", "special": true, "normalized": true},
			{"id": 1, "content": "<s>", "special": true, "normalized": true},
			{"id": 2, "content": "</s>", "special": true, "normalized": true}},
		"normalizer": object{"type": "Sequence", "normalizers": []object{{"type": "Prepend", "prepend": "▁"},
			{"type": "Replace", "pattern": object{"String": " "}, "content": "▁"}}},
		"pre_tokenizer": nil,
		"post_processor": object{"type": "TemplateProcessing",
			"single": []object{{"SpecialToken": object{"id": "<s>", "type_id": 0}},
				{"Sequence": object{"id": "A", "type_id": 0}}},
			"special_tokens": object{"<s>": object{"id": "<s>", "ids": []int{1}, "tokens": []string{"<s>"}}}},
		"decoder": object{"type": "Sequence", "decoders": []object{
			{"type": "Replace", "pattern": object{"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
			{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}}},
		"model": object{"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true, "vocab": vocab,
			"merges": merges}}
}

func parsed(t *testing.T, file object) *Tokenizer {
	b, err := json.Marshal(file)
	require.NoError(t, err)
	k, err := parse(b)
	require.NoError(t, err)
	return k
}

// id returns the id of a token, or -1.
func (t *Tokenizer) id(token string) int { return slices.Index(t.tokens, token) }

// eachText checks texts that tokenizers get wrong, and any others.
func eachText(t *testing.T, check func(t rapid.TB, text string)) {
	for _, text := range []string{"", " ", "  ", "\n", " \n ", "a", " a", "a  b", "a   ", "\t\tif",
		"it's IT'S they'LL I'm we'd", "1234567 89", "x\r\n\r\ny", "  \u3000 x", "\u0085\u00a0b", corpus, "e\u0301 é",
		"🙂 👍🏽", "日本語 漢字", "<|eot_id|>", "a<|begin_of_text|> b<|eot", "!?!?\n\n.", strings.Repeat("the ", 300)} {
		check(t, text)
	}
	pool := rapid.SampledFrom([]rune(corpus + " \u0085\u00a0\u2003ſßİ\u0301"))
	other := rapid.Rune().Filter(func(c rune) bool { return c != utf8.RuneError })
	texts := rapid.StringOfN(rapid.OneOf(pool, pool, pool, other), 0, 25, -1)
	rapid.Check(t, func(t *rapid.T) { check(t, texts.Draw(t, "text")) })
}
