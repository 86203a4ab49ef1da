//go:build cgo

package standin

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
)

// writtenErrors are dumps of errors.
var writtenErrors = map[string]writtenReplay{
	"levels": {`{"data": {"errors": [` + strings.ReplaceAll(nestedErrors["userInfo"], `"D"`, `"`+compiler+`"`) + `]}}`,
		func(r *replay) {
			e := r.compiling("NSError")
			require.Equal(r.t, []any{"OUTER", compiler, int64(1)}, []any{e.Message, e.Domain, e.Code})
			require.Len(r.t, e.Causes, 2)
			require.Equal(r.t, []any{"MIDDLE", int64(2), "INNER", int64(3)}, []any{e.Causes[0].Message,
				e.Causes[0].Code,
				e.Causes[1].Message, e.Causes[1].Code})
		}},
	"another domain": {`{"data": [{"stage": "compile", "domain": "NSPOSIXErrorDomain", "code": 6}]}`, func(r *replay) {
		e := r.compiling("NSError")
		require.Equal(r.t, []any{"NSPOSIXErrorDomain", int64(6)}, []any{e.Domain, e.Code})
		require.NotContains(r.t, e.Message, "Program")
	}},
	"NO": {`{"data": [{"stage": "compile", "kind": "NO without an error"}]}`,
		func(r *replay) { r.compiling("NO without an error") }},
	"exception": {`{"data": [{"stage": "compile", "kind": "exception", "exception": "Odd", "text": "words"}]}`,
		func(r *replay) {
			e := r.compiling("exception")
			require.Equal(r.t, []string{"Odd", "words"}, []string{e.Exception, e.Message})
		}},
	"contradiction": {`{"data": [{"stage": "compile", "kind": "YES together with an error", "code": 77, "text": "words"}]}`, func(r *replay) {
		e := r.compiling("YES together with an error")
		require.Equal(r.t, []any{int64(77), "words"}, []any{e.Code, e.Message})
	}},
	"once": {`{"data": [{"stage": "compile", "kind": "NO without an error", "count": 1}]}`, func(r *replay) {
		r.compiling("NO without an error")
		loadedProgram(r.t, r.b, addition)
	}},
	"create": {`{"data": [{"stage": "create", "kind": "nil"}]}`, func(r *replay) {
		p, err := r.b.NewProgram([]byte(addition), nil)
		if err == nil {
			defer p.Close()
			_, err = p.Compile(driverabi.QoSDefault)
		}
		r.ends(err, "nil", "create")
	}},
	"describe": {`{"data": [{"stage": "describe", "kind": "nil"}]}`, func(r *replay) {
		_, err := loadedProgram(r.t, r.b, addition).Attributes()
		r.ends(err, "nil", "describe")
	}},
	"surface": {`{"data": [{"stage": "surface", "kind": "exception", "text": "words"}]}`, func(r *replay) {
		s, err := r.f.surfaceOf(opened(r.t, plane, r.f.Surfaces()))
		require.NoError(r.t, err)
		_, err = r.b.WrapSurface(s.Ref, 0)
		r.ends(err, "exception", "surface")
	}},
	"request": {`{"data": [{"stage": "request", "kind": "nil"}]}`, func(r *replay) {
		p := loadedProgram(r.t, r.b, addition)
		bind := func(i int) objcbridge.Binding {
			return objcbridge.Binding{Surface: wrapped(r.t, r.f, r.b, opened(r.t, plane, r.f.Surfaces())),
				Index: i, Bytes: plane}
		}
		_, err := p.NewRequest(0, []objcbridge.Binding{bind(0), bind(1)}, []objcbridge.Binding{bind(0)})
		r.ends(err, "nil", "request")
	}},
	"one program": {`{"data": [{"stage": "compile", "code": 10, "program": "conv-1x1.mil"}]}`,
		func(r *replay) { r.runs() }},
	"evaluate": {`{"data": [{"stage": "evaluate", "kind": "NO without an error", "count": 2}]}`, func(r *replay) {
		p, q := r.ready(addition)
		for range 2 {
			r.ends(q.Evaluate(p, driverabi.QoSDefault), "NO without an error", "evaluate")
		}
		require.NoError(r.t, q.Evaluate(p, driverabi.QoSDefault))
	}},
}

// ends requires an error of the bridge with this kind and stage.
func (r *replay) ends(err error, kind, stage string) *objcbridge.Error {
	r.t.Helper()
	var e *objcbridge.Error
	require.ErrorAs(r.t, err, &e)
	require.Equal(r.t, []string{kind, stage}, []string{e.Kind.String(), e.Stage.String()}, err)
	return e
}

// compiling requires an error of a compile.
func (r *replay) compiling(kind string) *objcbridge.Error {
	r.t.Helper()
	_, err := r.program(addition).Compile(driverabi.QoSDefault)
	return r.ends(err, kind, "compile")
}
