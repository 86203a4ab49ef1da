package standin

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/unimem"
)

// Each limit of a chip has a refusal one step beyond it, and none at it. A limit that is added to
// chip.Limits, or a rule of lint with a number, fails here until it has one or a reason.
func TestEachLimitOfAChip(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[chip.Limits]())
	for _, f := range fields {
		kinds := 0
		for _, known := range []bool{sized[f.Name] != nil, otherwise[f.Name] != "", advice[f.Name] != ""} {
			if known {
				kinds++
			}
		}
		require.Equal(t, 1, kinds, "%s needs a program in sized, a test in otherwise, or a reason in advice", f.Name)
	}
	for name, text := range sized {
		for _, c := range chip.All() {
			limit, ok := reflect.ValueOf(c.Spec().Limits).FieldByName(name).Interface().(chip.Fact[int])
			require.True(t, ok, name)
			if !limit.Known() || before[name+"/"+c.String()] == tried512 {
				continue
			}
			t.Run(name+"/"+c.String(), func(t *testing.T) {
				if before[name+"/"+c.String()] == "" {
					require.NoError(t, tried(t, c, text(limit.Value)), "at the limit of %d", limit.Value)
				}
				require.Error(t, tried(t, c, text(limit.Value+1)), "beyond the limit of %d", limit.Value)
			})
		}
	}
}

// Each rule that is an error is refused, and what barely does not break it is taken.
func TestEachRuleWithARefusal(t *testing.T) {
	a, err := txtar.ParseFile("../../../ane/engine/testdata/emulate.txtar")
	require.NoError(t, err)
	refused := map[string]bool{"conv-chain": true} // Chain of sized
	for _, f := range a.Files {
		words := strings.Fields(f.Name)
		c, err := chip.Parse(words[1])
		require.NoError(t, err)
		t.Run(strings.Join(words, "/"), func(t *testing.T) {
			err := tried(t, c, string(f.Data))
			require.Equal(t, words[2] == "breaks", err != nil, "%v", err)
		})
		refused[words[0]] = true
	}
	for _, rule := range otherwise {
		require.True(t, refused[rule] || strings.HasPrefix(rule, "Test"), rule)
	}
	number := regexp.MustCompile(`\d`)
	for _, r := range lint.Rules() {
		if refused[r.ID] {
			require.Empty(t, advice[r.ID], r.ID)
		} else if r.Severity == lint.Error || number.MatchString(r.Title+r.Reason+r.Fix) {
			require.NotEmpty(t, advice[r.ID], "%s needs programs in emulate.txtar, or a reason in advice", r.ID)
		}
	}
}

// tried compiles a program for a chip and evaluates it on surfaces of zeros. The error is the
// first refusal.
func tried(t *testing.T, c chip.Chip, text string) error {
	t.Helper()
	m := newFake(t, 0)
	s := newServer(m, nil).emulating(c)
	h, err := s.compile(write(t, withBlanks(t, text)))
	if err != nil {
		require.NotZero(t, kindOf(err))
		return err
	}
	defer s.DropProgram(h)
	f := s.program(h).named[0]
	var ids []uint32
	for _, p := range slices.Concat(f.in, f.out) {
		size, ok := p.placement.bytes()
		require.True(t, ok)
		b, err := unimem.Open(int(size))
		require.NoError(t, err)
		id := uint32(len(m.blocks) + 1)
		m.blocks[id] = b
		ids = append(ids, id)
	}
	if got := s.evaluate(h, 0, 1, ids[:len(f.in)], ids[len(f.in):]); got != done {
		return fmt.Errorf("status %#x", uint32(got))
	}
	s.DropRequest(1)
	return nil
}

// withBlanks returns the files of a program: its text, and weights of zeros.
func withBlanks(t *testing.T, text string) map[string]string {
	files := map[string]string{"model.mil": text}
	p, err := mil.ParseTree("model.mil", []byte(text))
	if err != nil {
		return files
	}
	needs := map[string][]blob.Need{}
	for _, v := range p.Weights() {
		if path, offset, err := v.Blob().Entry(); err == nil {
			needs[path] = append(needs[path], blob.Need{Offset: offset, Type: v.Type})
		}
	}
	for path, need := range needs {
		name, ok := strings.CutPrefix(path, blob.ModelPath)
		if data, err := blob.Blank(path, 1<<30, need); ok && err == nil && filepath.IsLocal(name) {
			files[name] = string(data)
		}
	}
	return files
}
