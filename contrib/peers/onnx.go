package main

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protobuf message in the making.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

func (m *message) int(field protowire.Number, n int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(n))
}

// graph is an ONNX graph of float32. Fields and numbers are those of onnx.proto.
type graph struct{ nodes, tensors, ends message }

// Types of elements.
const (
	float32s = 1
	int64s   = 7
)

// attribute is an attribute of a node: an int, a float64, a string or ints.
type attribute struct {
	name  string
	value any
}

// node appends an operator with one result.
func (g *graph) node(kind, result string, inputs []string, attributes ...attribute) {
	var n message
	for _, i := range inputs {
		n.text(1, i)
	}
	n.text(2, result)
	n.text(4, kind)
	for _, a := range attributes {
		var m message
		m.text(1, a.name)
		switch v := a.value.(type) {
		case int:
			m.int(3, v)
			m.int(20, 2)
		case float64:
			m = protowire.AppendTag(m, 2, protowire.Fixed32Type)
			m = protowire.AppendFixed32(m, math.Float32bits(float32(v)))
			m.int(20, 1)
		case string:
			m.text(4, v)
			m.int(20, 3)
		case []int:
			for _, i := range v {
				m.int(8, i)
			}
			m.int(20, 7)
		}
		n.bytes(5, m)
	}
	g.nodes.bytes(1, n)
}

// floats appends a constant of float32.
func (g *graph) floats(name string, values []float32, shape ...int) {
	data := make([]byte, 0, 4*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	g.tensor(name, float32s, data, shape)
}

// ints appends a constant vector of int64.
func (g *graph) ints(name string, values ...int) {
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	g.tensor(name, int64s, data, []int{len(values)})
}

func (g *graph) tensor(name string, kind int, data []byte, shape []int) {
	var t message
	for _, d := range shape {
		t.int(1, d)
	}
	t.int(2, kind)
	t.text(8, name)
	t.bytes(9, data)
	g.tensors.bytes(5, t)
}

// end appends an input (field 11) or an output (12). An output has no shape.
func (g *graph) end(field protowire.Number, name string, shape ...int) {
	var dims, t, kind, end message
	for _, d := range shape {
		var dim message
		dim.int(1, d)
		dims.bytes(1, dim)
	}
	t.int(1, float32s)
	if len(shape) > 0 {
		t.bytes(2, dims)
	}
	kind.bytes(1, t)
	end.text(1, name)
	end.bytes(2, kind)
	g.ends.bytes(field, end)
}

// model returns the file: version 8 of the format, version 17 of the operators.
func (g *graph) model() []byte {
	var body, set, m message
	body = append(append(append(body, g.nodes...), g.tensors...), g.ends...)
	body.text(2, "peers")
	set.text(1, "")
	set.int(2, 17)
	m.int(1, 8)
	m.bytes(7, body)
	m.bytes(8, set)
	return m
}
