package wire

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// across sends an error as a Fault.
func across(t *testing.T, err error) error {
	t.Helper()
	f := NewFault(err)
	require.NoError(t, Check(&f))
	var back Fault
	require.NoError(t, Parse(Append(nil, &f), &back))
	return back.Err()
}

func TestFaultMatchesEverySentinel(t *testing.T) {
	for n, s := range sentinels[1:] {
		got := across(t, &ane.Error{Op: "bind", Name: "x", Detail: "why", Hint: "do", Err: s})
		for m, other := range sentinels[1:] {
			require.Equal(t, errors.Is(s, other), errors.Is(got, other), "%d and %d", n+1, m+1)
		}
		require.Equal(t, (&ane.Error{Op: "bind", Name: "x", Detail: "why", Hint: "do", Err: s}).Error(), got.Error())
	}
}

// TestSentinelsAreComplete reads the source of package ane, so that a new sentinel
// cannot be forgotten here.
func TestSentinelsAreComplete(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../../../../ane/errors.go", nil, 0)
	require.NoError(t, err)
	count := 0
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			for _, name := range v.Names {
				if strings.HasPrefix(name.Name, "Err") {
					count++
				}
			}
		}
		return true
	})
	require.NotZero(t, count)
	require.Len(t, sentinels, 1+count+2, "the list has nil, package ane's and two of package context")
}

func TestFaultKeepsWhatErrorsSay(t *testing.T) {
	list := mil.ErrorList{{File: "a.mil", Pos: mil.Pos{Line: 3, Col: 4}, Msg: "no op", Hint: "write one"}}
	compile := &ane.Error{Op: "compile", Engine: "soft", Name: "a.mil", Err: ane.Because(ane.ErrCompile, list)}
	joined := errors.Join(&ane.Error{Op: "bind", Name: "input x", Err: ane.ErrUnbound},
		&ane.Error{Op: "bind", Name: "input y", Err: ane.ErrShort})
	for _, err := range []error{compile, joined, ane.Deadline("evaluate", "soft", context.DeadlineExceeded),
		&ane.Error{Op: "load", Err: ane.Because(ane.ErrEngine, driverabi.NoResources), Domain: "d", Code: 7}} {
		got := across(t, err)
		require.Equal(t, err.Error(), got.Error())
	}
	var found mil.ErrorList
	require.ErrorAs(t, across(t, compile), &found)
	require.Equal(t, list, found)
	var ret driverabi.Return
	require.ErrorAs(t, across(t, &ane.Error{Err: ane.Because(ane.ErrEngine, driverabi.NoResources)}), &ret)
	require.Equal(t, driverabi.NoResources, ret)
	require.ErrorContains(t, across(t, errors.New("bare")), "bare")
}

func TestFaultIsCutToItsLimits(t *testing.T) {
	long := strings.Repeat("ä", 2*MaxText) + "\xff"
	var list mil.ErrorList
	for i := range MaxLines + 5 {
		list.Add(&mil.Error{Msg: fmt.Sprint(i), Pos: mil.Pos{Line: i}})
	}
	require.ErrorIs(t, across(t, &ane.Error{Op: long, Name: long, Detail: long, Rule: long,
		Hint: long, Err: ane.ErrShape}), ane.ErrShape)
	var found mil.ErrorList
	require.ErrorAs(t, across(t, ane.Because(ane.ErrCompile, list)), &found)
	require.Len(t, found, MaxLines)
	few := list[:16] // of all lines, each as long as can be, a process would need gigabytes
	for _, e := range few {
		e.Msg, e.Hint = long, long
	}
	require.ErrorAs(t, across(t, ane.Because(ane.ErrCompile, few)), &found)
	require.Len(t, found, len(few))
	var many []error
	for range 2 * MaxFaults {
		many = append(many, &ane.Error{Op: "bind", Err: ane.ErrUnbound})
	}
	require.ErrorIs(t, across(t, errors.Join(many...)), ane.ErrUnbound)
}

func FuzzFaultErr(f *testing.F) {
	bare := NewFault(&ane.Error{Op: "bind", Err: ane.ErrShape})
	f.Add(Append(nil, &bare))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p Fault
		if Parse(b, &p) == nil {
			require.NotEmpty(t, p.Err().Error())
		}
	})
}
