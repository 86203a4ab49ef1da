package tokenizer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The patterns as the models publish them.
const (
	llama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
		`\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
		`\s*[\r\n]+|\s+(?!\S)|\s+`
)

// object is a JSON object.
type object = map[string]any

func TestWordsOfThePublishedPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          []string
	}{
		{llama3, "Hello  world's 12345!\n\n  x",
			[]string{"Hello", " ", " world", "'s", " ", "123", "45", "!\n\n", " ", " x"}},
		{llama3, "a \t\n b   ", []string{"a", " \t\n", " b", "   "}},
		{llama3, "I'LL (go)", []string{"I", "'LL", " (", "go", ")"}},
		{qwen, "x 2024", []string{"x", " ", "2", "0", "2", "4"}},
		{gpt2, "it's   a\ttest 42", []string{"it", "'s", "  ", " a", "\t", "test", " 42"}},
		{gpt2, "IT'S", []string{"IT", "'", "S"}},
		{llama3, "\u00a0\u3000x", []string{"\u00a0", "\u3000x"}},
		{`\d+|\w+|\D`, "x1 ٣", []string{"x1", " ", "٣"}},
	} {
		find, err := pattern(c.pattern)
		require.NoError(t, err)
		require.Equal(t, c.want, splitBy(find, "Isolated", false)(nil, c.text, true), "%q", c.text)
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	for _, p := range []string{`a(?=b)`, `(?<!a)b`, `a(?!b)`, `\s+(?!\S)`, `x\s+(?!\S)|\s+`, `(\s+(?!\S)|\s+)`,
		`\s+(?!\S)|\sx`, `a++`, `^a`, `a$`, `[[:alpha:]]`, `[a&&b]`, `[^\S]`, `\bx`, `(?>a)`, `(?m:a)`, `[`, `(`,
		`\`, `\K`, `\1`, `[]`, `\pL`, strings.Repeat("a", maxPattern+1), "\xff"} {
		_, err := pattern(p)
		require.Error(t, err, "%.40q", p)
	}
}

func TestByteLevelIsTheDefinition(t *testing.T) {
	for name, p := range map[string]string{"llama3": llama3, "qwen": qwen} {
		for _, whole := range []bool{false, true} {
			file := byteLevelFile(t, p)
			model := file["model"].(object)
			model["ignore_merges"] = whole
			k := parsed(t, file)
			bos := k.id("<|begin_of_text|>")
			var merges [][2]string
			for _, m := range model["merges"].([]string) {
				left, right, _ := strings.Cut(m, " ")
				merges = append(merges, [2]string{left, right})
			}
			find, err := pattern(p)
			require.NoError(t, err)
			chars, _ := alphabet()
			eachText(t, func(t rapid.TB, text string) {
				got, err := k.Encode(text)
				require.NoError(t, err)
				require.Equal(t, bos, got[0])
				require.Equal(t, strings.NewReplacer("<|eot_id|>", "", "<|begin_of_text|>", "").Replace(text),
					k.Decode(got), "%s", name)
				if strings.Contains(text, "<|") {
					return
				}
				want := []int{bos}
				for _, s := range spans(text, find) {
					var w []string
					for _, b := range []byte(s.text) {
						w = append(w, string(chars[b]))
					}
					for _, token := range naive(w, merges) {
						want = append(want, k.id(token))
					}
				}
				require.Equal(t, want, got, "%s: %q", name, text)
			})
		}
	}
}

func TestIgnoreMergesTakesAWholeWord(t *testing.T) {
	file := byteLevelFile(t, llama3)
	model := file["model"].(object)
	vocab := model["vocab"].(map[string]int)
	vocab["Ġunreachable"] = 500
	k := parsed(t, file)
	ids, err := k.Encode("an unreachable word")
	require.NoError(t, err)
	require.Contains(t, ids, 500)
	model["ignore_merges"] = false
	ids, err = parsed(t, file).Encode("an unreachable word")
	require.NoError(t, err)
	require.NotContains(t, ids, 500)
}

func TestSentenceIsTheDefinition(t *testing.T) {
	file := sentenceFile()
	k := parsed(t, file)
	model := file["model"].(object)
	vocab, merges := model["vocab"].(map[string]int), model["merges"].([][2]string)
	eachText(t, func(t rapid.TB, text string) {
		got, err := k.Encode(text)
		require.NoError(t, err)
		want := []int{1}
		if text != "" {
			var w []string
			for _, c := range "▁" + strings.ReplaceAll(text, " ", "▁") {
				if _, ok := vocab[string(c)]; ok {
					w = append(w, string(c))
					continue
				}
				for _, b := range []byte(string(c)) {
					w = append(w, fmt.Sprintf("<0x%02X>", b))
				}
			}
			for _, token := range naive(w, merges) {
				want = append(want, vocab[token])
			}
		}
		require.Equal(t, want, got, "%q", text)
		require.Equal(t, text, k.Decode(got))
	})
}

func TestMetaspaceFirst(t *testing.T) {
	file := sentenceFile()
	file["normalizer"] = nil
	for scheme, want := range map[string]string{"first": "▁the|</s>|the", "always": "▁the|</s>|▁the",
		"never": "the|</s>|the"} {
		file["pre_tokenizer"] = object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme,
			"split": false}
		k := parsed(t, file)
		ids, err := k.Encode("the</s>the")
		require.NoError(t, err)
		var got []string
		for _, id := range ids[1:] {
			token, _ := k.Token(id)
			got = append(got, token)
		}
		require.Equal(t, want, strings.NewReplacer("t|he", "the", "th|e", "the", "▁|", "▁", "t|h|e", "the").
			Replace(strings.Join(got, "|")), scheme)
	}
}

func TestAddedTokens(t *testing.T) {
	file := byteLevelFile(t, llama3)
	file["added_tokens"] = append(file["added_tokens"].([]object),
		object{"id": 600, "content": "<tool>"}, object{"id": 601, "content": "<tool>s"},
		object{"id": 602, "content": "word", "single_word": true},
		object{"id": 603, "content": "<m>", "lstrip": true, "rstrip": true})
	k := parsed(t, file)
	added := func(text string) (all []int) {
		ids, err := k.Encode(text)
		require.NoError(t, err)
		for _, id := range ids {
			if id >= 600 {
				all = append(all, id)
			}
		}
		return all
	}
	require.Equal(t, []int{600, 601}, added("a<tool> b<tool>s"), "the longest")
	require.Equal(t, []int{602}, added("words sword wörd word."), "single_word")
	ids, err := k.Encode("a  <m>  b")
	require.NoError(t, err)
	require.Len(t, ids, 4, "blanks beside lstrip and rstrip belong to the token")
	require.Equal(t, "a<m>b", k.Decode(ids), "only special tokens are left out")
	require.Len(t, k.tokens, 604)
}

func TestNormalizersAndDigits(t *testing.T) {
	file := byteLevelFile(t, llama3)
	file["normalizer"] = object{"type": "NFC"}
	k := parsed(t, file)
	a, err := k.Encode("cafe\u0301")
	require.NoError(t, err)
	b, err := k.Encode("café")
	require.NoError(t, err)
	require.Equal(t, b, a)
	for individual, want := range map[bool]int{true: 5, false: 3} {
		require.Len(t, digits(individual)(nil, "a123b", true), want)
	}
	file["normalizer"] = object{"type": "Replace", "pattern": object{"Regex": ` {2,}`}, "content": " "}
	a, err = parsed(t, file).Encode("the     dog")
	require.NoError(t, err)
	b, err = k.Encode("the dog")
	require.NoError(t, err)
	require.Equal(t, b, a)
}

func TestBehaviorsOfSplit(t *testing.T) {
	// As the documentation of the library has them, for "the-final--countdown" and "-".
	for behavior, want := range map[string][]string{
		"Removed": {"the", "final", "countdown"}, "Isolated": {"the", "-", "final", "-", "-", "countdown"},
		"MergedWithPrevious": {"the-", "final-", "-", "countdown"},
		"MergedWithNext":     {"the", "-final", "-", "-countdown"},
		"Contiguous":         {"the", "-", "final", "--", "countdown"},
	} {
		const text = "the-final--countdown"
		require.Equal(t, want, join(nil, text, spans(text, literal("-")), behavior), behavior)
	}
}

// A word of many parts costs no copy of it for each part, and merging it no allocation for each pair.
func TestLongWordsAllocateLittle(t *testing.T) {
	const few = 64 // slices that grow
	text := strings.Repeat("1", 1<<14)
	all := spans(text, literal("1"))
	require.Len(t, all, len(text))
	require.LessOrEqual(t, testing.AllocsPerRun(1, func() { join(nil, text, all, "Contiguous") }), float64(few))
	require.Equal(t, []string{text}, join(nil, text, all, "Contiguous"))
	m := bpe{ids: map[string]int32{"1": 0, "11": 1}, merges: map[[2]int32]merge{{0, 0}: {0, 1}}}
	require.LessOrEqual(t, testing.AllocsPerRun(1, func() { _ = m.encode(nil, text) }), float64(few))
}

func TestStreamHoldsIncompleteCharacters(t *testing.T) {
	for name, k := range map[string]*Tokenizer{"bytes": parsed(t, byteLevelFile(t, llama3)),
		"sentences": parsed(t, sentenceFile())} {
		eachText(t, func(t rapid.TB, text string) {
			ids, err := k.Encode(text)
			require.NoError(t, err)
			s := k.Stream()
			var got strings.Builder
			for _, id := range ids {
				part := s.Next(id)
				require.True(t, utf8.ValidString(part))
				require.NotContains(t, part, "\uFFFD")
				got.WriteString(part)
			}
			require.Empty(t, s.Flush())
			require.Equal(t, k.Decode(ids), got.String(), name)
		})
	}
	k := parsed(t, sentenceFile())
	var ids []int
	for _, b := range []byte("\xe6\xbc\xa2\xe6\xbc") {
		ids = append(ids, k.id(fmt.Sprintf("<0x%02X>", b)))
	}
	s := k.Stream()
	var parts []string
	for _, id := range ids {
		parts = append(parts, s.Next(id))
	}
	require.Equal(t, []string{"", "", "漢", "", ""}, parts)
	require.Equal(t, "\uFFFD", s.Flush())
	require.Empty(t, s.Flush())
	the := k.id("▁the")
	require.Equal(t, "the", k.Stream().Next(the), "the text begins without the space")
	require.Equal(t, " the", k.Stream(1, the).Next(the), "text after a prompt keeps it")
}

// A file without a decoder, as small ones are written, has spaces between its tokens.
func TestNoDecoderPutsTokensApart(t *testing.T) {
	for _, file := range []object{{"decoder": nil}, {}} {
		file["model"] = object{"type": "BPE", "vocab": object{"a": 0, "b": 1, "ab": 2}, "merges": []string{"a b"}}
		k := parsed(t, file)
		ids, err := k.Encode("abba")
		require.NoError(t, err)
		require.Equal(t, []int{2, 1, 0}, ids)
		require.Equal(t, "ab b a", k.Decode(ids))
		require.Equal(t, " b", k.Stream(2).Next(1), "after a prompt")
	}
}

func TestBytesThatAreNoUTF8(t *testing.T) {
	k := parsed(t, byteLevelFile(t, llama3))
	ids, err := k.Encode("a\xffb\xe6\xbc")
	require.NoError(t, err)
	require.Equal(t, "a\uFFFDb\uFFFD", k.Decode(ids))
	require.Equal(t, "", k.Decode([]int{-1, 1 << 30}), "ids without a token are left out")
}

func TestFilesThatAreRefusedByName(t *testing.T) {
	type change func(object)
	set := func(field string, v any) change { return func(o object) { o[field] = v } }
	model := func(field string, v any) change { return func(o object) { o["model"].(object)[field] = v } }
	split := func(pattern, behavior string) object {
		return object{"type": "Split", "pattern": object{"Regex": pattern}, "behavior": behavior}
	}
	deep := object{"type": "NFC"}
	for range maxNested + 1 {
		deep = object{"type": "Sequence", "normalizers": []object{deep}}
	}
	many := make([]object, maxParts+1)
	for i := range many {
		many[i] = object{"type": "NFC"}
	}
	for want, f := range map[string]change{
		"no model":                         set("model", nil),
		`model "Unigram"`:                  model("type", "Unigram"),
		"dropout":                          model("dropout", 0.1),
		"continuing_subword_prefix":        model("continuing_subword_prefix", "##"),
		"end_of_word_suffix":               model("end_of_word_suffix", "</w>"),
		`unk_token "<none>"`:               model("unk_token", "<none>"),
		"that the vocabulary lacks":        model("merges", []string{"a zzz"}),
		"is not two tokens":                model("merges", []string{"abc"}),
		"a merge of 3 tokens":              model("merges", [][]string{{"a", "b", "c"}}),
		`"a" and "b" have id 7`:            model("vocab", object{"a": 7, "b": 7}),
		`has id -1`:                        model("vocab", object{"a": -1}),
		`has id 2097152`:                   model("vocab", object{"a": maxVocabulary}),
		`normalizer: "Lowercase"`:          set("normalizer", object{"type": "Lowercase"}),
		"a Sequence in 8 others":           set("normalizer", deep),
		"more than 64 parts":               set("normalizer", object{"type": "Sequence", "normalizers": many}),
		"the pattern is empty":             set("normalizer", object{"type": "Replace", "content": "x"}),
		`pre_tokenizer: "Whitespace"`:      set("pre_tokenizer", object{"type": "Whitespace"}),
		"the group \"(?<!\"":               set("pre_tokenizer", split("(?<!a)b", "Isolated")),
		`behavior "Odd"`:                   set("pre_tokenizer", split("b", "Odd")),
		`post_processor: "BertProcessing"`: set("post_processor", object{"type": "BertProcessing"}),
		"no special token": set("post_processor", object{"type": "TemplateProcessing",
			"single": []object{{"SpecialToken": object{"id": "?"}}}}),
		"a template with 0 texts": set("post_processor", object{"type": "TemplateProcessing"}),
		`decoder: "WordPiece"`:    set("decoder", object{"type": "WordPiece"}),
		"Fuse after ByteLevel": set("decoder", object{"type": "Sequence",
			"decoders": []object{{"type": "ByteLevel"}, {"type": "Fuse"}}}),
		"added token \"x\" has id -5":         set("added_tokens", []object{{"id": -5, "content": "x"}}),
		"of the token":                        set("added_tokens", []object{{"id": 3, "content": "xyz"}}),
		"cannot unmarshal string into Go str": set("added_tokens", "x"),
	} {
		file := byteLevelFile(t, llama3)
		f(file)
		b, err := json.Marshal(file)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "tokenizer.json")
		require.NoError(t, os.WriteFile(path, b, 0o600))
		_, err = Read(path)
		require.ErrorIs(t, err, ErrUnusable, want)
		require.ErrorContains(t, err, path)
		if !strings.HasPrefix(want, "cannot") {
			require.ErrorContains(t, err, want)
		}
	}
	_, err := Read(filepath.Join(t.TempDir(), "tokenizer.json"))
	require.ErrorIs(t, err, ErrUnusable)
}

func TestFaultsOfJSONAreInItsWords(t *testing.T) {
	for _, text := range []string{`{"model": ""}`, "[]", `{"model": {"type": "BPE", "vocab": {"a": "x"}}}`,
		`{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [1]}}`, `{"model":`} {
		_, err := parse([]byte(text))
		require.ErrorContains(t, err, "JSON", text)
		require.NotContains(t, err.Error(), "Go ", text)
	}
}

// A small file may ask for a text of any size.
func TestTextsThatGrowAreRefused(t *testing.T) {
	file := byteLevelFile(t, llama3)
	var grow []object
	for range 8 {
		grow = append(grow, object{"type": "Replace", "pattern": object{"String": "a"},
			"content": strings.Repeat("a", 1000)})
	}
	file["normalizer"] = object{"type": "Sequence", "normalizers": grow}
	_, err := parsed(t, file).Encode("a")
	require.ErrorIs(t, err, ErrUnusable)
	_, err = parsed(t, byteLevelFile(t, llama3)).Encode(strings.Repeat("a", maxText+1))
	require.ErrorIs(t, err, ErrUnusable)
}

func TestUnknownCharacters(t *testing.T) {
	file := sentenceFile()
	model := file["model"].(object)
	model["byte_fallback"] = false
	ids, err := parsed(t, file).Encode("漢漢")
	require.NoError(t, err)
	require.Len(t, ids, 3, "begin, blank, both characters fused")
	require.Zero(t, ids[2])
	model["unk_token"] = nil
	ids, err = parsed(t, file).Encode("a漢b")
	require.NoError(t, err)
	bare, err := parsed(t, file).Encode("ab")
	require.NoError(t, err)
	require.Equal(t, bare, ids, "it is omitted, and its neighbors become neighbors")
	require.NotEmpty(t, ids)
}

// A text with special tokens of its own gets none around it.
func TestEncodeBare(t *testing.T) {
	k := parsed(t, sentenceFile())
	ids, err := k.Encode("</s>the")
	require.NoError(t, err)
	bare, err := k.EncodeBare("</s>the")
	require.NoError(t, err)
	require.Equal(t, append([]int{1}, bare...), ids)
	require.Equal(t, 2, bare[0])
}

// A long text without blanks is one word of the tokenizers without pre-tokenizer.
func TestLongWordsTakeNLogN(t *testing.T) {
	text := strings.Repeat("the", 200_000)
	ids, err := parsed(t, sentenceFile()).Encode(text)
	require.NoError(t, err)
	require.Less(t, len(ids), len(text))
}

func FuzzTokenizer(f *testing.F) {
	for _, file := range []object{sentenceFile()} {
		model := file["model"].(object)
		model["vocab"] = object{"a": 0, "b": 1, "ab": 2, "<0x63>": 3}
		model["merges"], model["unk_token"] = [][2]string{{"a", "b"}}, "a"
		file["added_tokens"], file["post_processor"] = []object{{"id": 4, "content": "<s>"}}, nil
		b, err := json.Marshal(file)
		require.NoError(f, err)
		f.Add(b, "abc<s>")
	}
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a a"]},"decoder":{"type":"ByteLevel"}}`), "a")
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"Ġ":0}},"decoder":{"type":"Metaspace","replacement":"_"},`+
		`"pre_tokenizer":{"type":"ByteLevel"}}`), " ")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		k, err := parse(data)
		if err != nil {
			return
		}
		ids, err := k.Encode(text)
		if err != nil {
			require.ErrorIs(t, err, ErrUnusable)
			return
		}
		for _, id := range ids {
			_, ok := k.Token(id)
			require.True(t, ok, "id %d of %d", id, len(k.tokens))
		}
		require.True(t, utf8.ValidString(k.Decode(ids)))
	})
}
