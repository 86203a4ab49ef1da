package decoder

import (
	"path/filepath"

	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/models/decoder/tokenizer"
)

// Recode returns tokens of a snapshot for this model. If the hashes of both tokenizers are equal, it returns the tokens
// as they are. Otherwise the tokenizer of the snapshot's model, in the folder dir, decodes them to text, and that of
// this model encodes the text; special tokens are left out of the text.
//
// The error matches ErrTokenizer: dir is empty, or has not the tokenizer of the snapshot, or one cannot be used.
func (m *Model) Recode(saved kv.Fingerprint, dir string, tokens []int) (ids []int, recoded bool, err error) {
	const op = "recode"
	fail := func(detail, hint string) ([]int, bool, error) {
		return nil, false, newError(op, ErrTokenizer, detail, hint)
	}
	own, err := hashWords(m.folder.dir)
	switch {
	case err != nil:
		return nil, false, err
	case own == saved.Tokenizer:
		return tokens, false, nil
	case own == "" || saved.Tokenizer == "":
		return fail("the snapshot's model or this one has none", "put tokenizer.json into both folders")
	case dir == "":
		return fail("the snapshot is of another tokenizer", "give the folder of its model, which decodes its text")
	}
	if sum, err := hashWords(dir); err != nil || sum != saved.Tokenizer {
		return fail("the snapshot is of another tokenizer than that of "+dir, "give the folder of its model")
	}
	old, err := tokenizer.Read(filepath.Join(dir, tokenizerFile))
	if err == nil {
		var words *tokenizer.Tokenizer
		if words, err = m.folder.Tokenizer(); err == nil {
			ids, err = words.Encode(old.Decode(tokens))
		}
	}
	if err != nil {
		return nil, false, &Error{Base: errtext.Base{Op: op, Err: ErrTokenizer, Cause: err}}
	}
	return ids, true, nil
}
