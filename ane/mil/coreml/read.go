package coreml

import (
	"errors"
	"slices"
	"strconv"

	"github.com/anekit/anekit/ane/mil"
)

// read reads a protobuf, the model called name. file is for messages.
func read(file, name string, data []byte) (*Model, error) {
	r := newReader(file, data)
	m := r.model(value{is: "Model", b: r.root}, name)
	if r.err != nil {
		return nil, r.err
	}
	m.remarks = r.remarks
	if m.first() == nil {
		return nil, unprogrammed(file, m.Kind)
	}
	if err := m.validate(file); err != nil {
		return nil, err
	}
	return m, nil
}

// validate checks the programs of a model, and describes those that their file does not describe.
func (m *Model) validate(file string) error {
	for _, p := range m.parts {
		if err := p.validate(file); err != nil {
			return err
		}
	}
	m.link()
	if m.tree == nil {
		return nil
	}
	if err := mil.Validate(file, m.tree); err != nil {
		e := refused(file, ErrFormat, "convert the model again", "its program is no valid MIL")
		if list, ok := errors.AsType[mil.ErrorList](err); ok && len(list) > 0 {
			e.Msg += ": " + list[0].Msg
		}
		e.Cause = err
		return e
	}
	m.Description.add(inferred(m.tree))
	return nil
}

// add adds what the program says of functions that are not described.
func (d *Description) add(all Description) {
	at := map[string]int{}
	for i, f := range d.Functions {
		at[f.Name] = i
	}
	for _, f := range all.Functions {
		i, ok := at[f.Name]
		switch {
		case !ok:
			d.Functions = append(d.Functions, f)
		case d.Functions[i].Inputs == nil && d.Functions[i].Outputs == nil:
			d.Functions[i] = f
		}
	}
}

// model reads a Model.
func (r *reader) model(v value, name string) *Model {
	m := &Model{Name: name}
	var content value
	r.each(v, func(field string, v value) {
		switch field {
		case "specificationVersion":
			m.Description.Specification = int(int32(v.n))
		case "description":
			version := m.Description.Specification
			m.Description = r.description(v)
			m.Description.Specification = version
		case "isUpdatable":
			if v.n != 0 {
				r.note("the model can be trained on a device; only its program was read")
			}
		default:
			m.Kind, content = field, v
		}
	})
	if m.Kind == "" {
		r.fail(v.b, broken, "the model has no content")
		return m
	}
	switch content.is {
	case "Program":
		m.tree = r.program(content)
		m.complete(r)
	case "Pipelined":
		r.each(content, func(_ string, v value) { r.pipeline(m, v) })
	case "Pipeline":
		r.pipeline(m, content)
	case "NonMaximumSuppression":
		m.Suppression = r.suppression(content)
	}
	return m
}

// pipeline reads a Pipeline.
func (r *reader) pipeline(m *Model, v value) {
	var names []string
	r.each(v, func(name string, v value) {
		if name == "names" {
			names = append(names, v.str())
			return
		}
		m.parts = append(m.parts, r.model(v, "model"+strconv.Itoa(len(m.parts))))
	})
	nameParts(m.parts, names)
}

// nameParts gives the parts of a pipeline names. A part without one, or with that of another, keeps its own.
func nameParts(parts []*Model, names []string) {
	taken := map[string]bool{}
	for i, name := range names[:min(len(names), len(parts))] {
		if name != "" && !taken[name] {
			parts[i].Name, taken[name] = name, true
		}
	}
}

// complete joins the program and its description: the default function, flexible shapes, labels.
func (m *Model) complete(r *reader) {
	d := &m.Description
	if len(d.Functions) == 1 && len(m.tree.Funcs) == 1 {
		d.Functions[0].Name = m.tree.Funcs[0].Name // the description of a model with one function need not name it
	}
	if main := m.tree.Select(""); main != nil && m.tree.Func(d.Default) == nil {
		if len(d.Functions) > 1 {
			r.note("the default function %s is none of the program; %s is it", short(d.Default), short(main.Name))
		}
		d.Default = main.Name
	}
	if remark := m.order(); remark != "" {
		r.note("%s", remark)
	}
	byName := map[string]*Function{}
	for i := range d.Functions {
		byName[d.Functions[i].Name] = &d.Functions[i]
	}
	for _, f := range m.tree.Funcs {
		if described := byName[f.Name]; described != nil {
			r.flexible(f, described)
			described.Labels = labels(f)
		}
	}
}

// order moves the default function of a model without main to the front, where a caller that names none finds it. The
// remark says so if the caller finds main instead.
func (m *Model) order() (remark string) {
	i := slices.IndexFunc(m.tree.Funcs, func(f *mil.Function) bool { return f.Name == m.Description.Default })
	switch {
	case i <= 0:
	case m.tree.Func("main") != nil:
		return "the default function is " + short(m.Description.Default) + "; main runs where none is named"
	default:
		f := m.tree.Funcs[i]
		m.tree.Funcs = slices.Insert(slices.Delete(m.tree.Funcs, i, i+1), 0, f)
	}
	return ""
}
