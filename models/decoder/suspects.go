package decoder

import (
	"context"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/pages"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// The first tokens read all weights. So Load does not search matrices that programs read in the mapped file for numbers
// that are not finite, if the arithmetic is that of IEEE 754. A product with such a number is not finite, whatever it
// multiplies, nor are the keys and values of the layer or of the next one, or the logits. Sessions look at these results
// and search the matrices if one is not finite, until the logits of a pass of one token are. Of a longer pass the first
// token alone shows all matrices: products skip other columns of zeros, and the logits are those of the last token. A
// session looks at a row of the embedding when it takes the token.

// trustedBytes is the size of a matrix that is worth it.
const trustedBytes = 1 << 16

// unseen is rows of a matrix that nothing has looked at.
type unseen struct {
	matrix
	rows extent
}

// trusts reports whether results of the engine show weights that are not finite.
func (m *Model) trusts() bool {
	return m.o.form == Compact && m.device.Info().Numerics == numerics.Reference.Describe()
}

// search looks at the matrices that nothing has looked at, and then trusts them.
func (m *Model) search(op string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.folder.guard(op, func() error {
		for _, u := range m.store.unseen {
			if err := u.each(u.rows, extent{0, u.in}, nil); err != nil {
				return err
			}
		}
		m.unsure.Store(false)
		return nil
	})
}

// populate maps the pages of a tensor that programs read in the file. A first pass would take a fault for each few.
func (m *Model) populate(ctx context.Context, t safetensors.Tensor) error {
	if err := ctx.Err(); err != nil {
		return &Error{Base: errtext.Base{Op: "load", Cause: err}}
	}
	b, offset, err := t.Block()
	if err == nil && m.folder.mapped && !pages.Populate(b, offset, len(t.Bytes())) {
		if changed := m.folder.changed("load"); changed != nil {
			return changed
		}
	}
	return nil
}

// suspect reports whether an element of fp16 in some bytes is not finite.
func suspect(data []byte) bool {
	view, err := unimem.View[fp16.Bits](data)
	return err != nil || !fp16.Finite(view)
}

// look searches the weights if a result of a pass of some tokens is suspect: keys, values or a logit, if there are any.
func (s *Session) look(op string, tokens int, logits bool) error {
	if !s.model.unsure.Load() {
		return nil
	}
	for i := 0; logits && i < len(s.parts) && !s.suspects; i++ {
		row, err := s.parts[i].Row(0)
		if err != nil {
			return err
		}
		s.suspects = suspect(row)
	}
	switch {
	case s.suspects:
		return s.model.search(op)
	case logits && tokens == 1:
		s.model.unsure.Store(false)
	}
	return nil
}
