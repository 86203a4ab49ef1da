package models_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/models"
)

// Tolerances are not too wide: they refuse a program with a mistake on every chip, with
// more than half of its outputs.
func TestMistakesAreRefused(t *testing.T) {
	named := map[string]models.Model{}
	for _, m := range everything(t) {
		named[m.Name] = m
	}
	const (
		softmax = "tensor<fp16, [1, 128, 1, 32]> y = softmax(axis = axis, x = x)"
		steeper = "tensor<fp16, [1, 128, 1, 32]> s = mul(x = x, y = fp16(0x1.08p+0));\n" +
			"        tensor<fp16, [1, 128, 1, 32]> y = softmax(axis = axis, x = s)"
	)
	for _, c := range []struct {
		model, mistake string
		text, wrong    string
	}{
		{"scale-bias", "a factor that is 0.1 % off", "fp16(0x1.8p+0)", "fp16(0x1.804p+0)"},
		{"packed-matmul", "weights from a column too far left", "[0, 0, 0, 32]", "[0, 0, 0, 31]"},
		{"conv-3x3", "border on one side alone", "([1, 1, 1, 1])", "([0, 2, 1, 1])"},
		{"softmax", "another axis", "int32(1)", "int32(3)"},
		{"softmax", "inputs scaled by 1.03", softmax, steeper},
		{"layer-norm", "no epsilon", "fp16(0x1p-1)", "fp16(0x0p+0)"},
		{"layer-norm", "gamma for beta", "beta = beta, epsilon", "beta = gamma, epsilon"},
		{"layer-norm", "beta for gamma", "gamma = gamma", "gamma = beta"},
		{"attention", "no mask", "y = mask)", "y = fp16(0x0p+0))"},
		{"attention", "a scale that is 13 % off", "fp16(0x1p-3)", "fp16(0x1.2p-3)"},
		{"attention", "no scale", "fp16(0x1p-3)", "fp16(0x1p+0)"},
		{"attention", "scores transposed", "x = q, y = k", "x = k, y = q"},
		{"sobel", "one gradient twice", "y = mul_1)[name = string(\"add_0\")]", "y = mul_0)[name = string(\"add_0\")]"},
	} {
		m := named[c.model]
		require.Contains(t, string(m.Text), c.text, c.model)
		m.Text = []byte(strings.Replace(string(m.Text), c.text, c.wrong, 1))
		in := inputs(t, m, 1)
		for _, on := range chips() {
			off, all := refused(t, on, m, in, m.Reference(in))
			require.Greater(t, off, all/2, "%s on %s: %s", c.model, on.name, c.mistake)
		}
	}
}
