package main

import "fmt"

// operator has a network, and how many times the peer's time it may take.
type operator struct {
	name   string
	wanted float64
	make   func(*net) value
}

// of is a network of one input.
func of(name string, wanted float64, make func(*net, value) value, shape ...int) operator {
	return operator{name, wanted, func(n *net) value { return make(n, n.in("x", shape...)) }}
}

// operators are single operators and whole networks.
func operators() []operator {
	var all []operator
	add := func(name string, wanted float64, make func(*net, value) value, shape ...int) {
		all = append(all, of(name, wanted, make, shape...))
	}
	conv := func(wanted float64, in, out, size, k, stride, groups int) {
		add(fmt.Sprintf("conv %dx%d/%d, %d to %d of %d, %d groups", k, k, stride, in, out, size, groups), wanted,
			func(n *net, x value) value { return n.conv(x, in, out, k, stride, groups) }, 1, in, size, size)
	}
	for _, c := range [][2]int{{64, 56}, {128, 28}, {256, 14}, {512, 7}} {
		conv(1.2, c[0], c[0], c[1], 3, 1, 1)
	}
	for _, c := range [][3]int{{64, 64, 56}, {64, 256, 56}, {512, 128, 28}, {1024, 256, 14}, {2048, 512, 7}} {
		conv(1.2, c[0], c[1], c[2], 1, 1, 1)
	}
	conv(1.2, 3, 64, 224, 7, 2, 1)
	conv(1.2, 64, 128, 56, 3, 2, 1)
	conv(1.2, 256, 512, 28, 1, 2, 1)
	for _, c := range [][3]int{{32, 112, 1}, {96, 112, 2}, {144, 56, 1}, {960, 7, 1}} {
		conv(1.5, c[0], c[0], c[1], 3, c[2], c[0])
	}
	for _, m := range [][2]int{{16, 2048}, {1, 1024}, {1, 4096}} {
		add(fmt.Sprintf("%d rows by %d x %d", m[0], m[1], m[1]), 1.2, func(n *net, x value) value {
			return n.matmul(x, n.weight(0, m[1], m[1]))
		}, m[0], m[1])
	}
	add("softmax 12x256x256", 1.5, (*net).softmax, 1, 12, 256, 256)
	add("softmax 1024x4096", 1.5, (*net).softmax, 1024, 4096)
	for _, s := range [][2]int{{256, 768}, {4096, 1024}} {
		add(fmt.Sprintf("layer_norm %dx%d", s[0], s[1]), 1.5, func(n *net, x value) value {
			return n.layerNorm(x, s[1])
		}, s[0], s[1])
	}
	add("gelu 256x3072", 1, (*net).gelu, 256, 3072)
	add("sigmoid 1Mi", 1, (*net).sigmoid, 1, 1<<20)
	add("add 1Mi", 1, func(n *net, x value) value { return n.add(x, x) }, 1, 1<<20)
	add("mean of rows 4096x1024", 1.5, func(n *net, x value) value { return n.mean(x, true, -1) }, 4096, 1024)
	add("mean over 7x7, 512", 1.5, func(n *net, x value) value { return n.mean(x, true, 2, 3) }, 1, 512, 7, 7)
	add("max_pool 3x3 stride 2, 64 of 112", 1.5, func(n *net, x value) value {
		return n.maxPool(x, 3, 2)
	}, 1, 64, 112, 112)
	add("avg_pool 3x3, 64 of 56", 1.5, func(n *net, x value) value { return n.avgPool(x, 3, 1) }, 1, 64, 56, 56)
	add("bilinear x2, 64 of 56", 1.5, (*net).upsample2, 1, 64, 56, 56)
	add("conv_transpose 2x2 stride 2, 64 of 28", 1.5, func(n *net, x value) value {
		return n.convTranspose2(x, 64)
	}, 1, 64, 28, 28)
	add("transpose to NHWC, 256 of 56", 1, func(n *net, x value) value {
		return n.transpose(x, 0, 2, 3, 1)
	}, 1, 256, 56, 56)
	for _, tokens := range []int{256, 1024, 4096} {
		all = append(all, operator{fmt.Sprintf("attention spelled out, 8 heads, %d", tokens), 1, func(n *net) value {
			q, k, v := n.in("q", 1, 8, tokens, 64), n.in("k", 1, 8, 64, tokens), n.in("v", 1, 8, tokens, 64)
			return n.matmul(n.softmax(n.mul(n.matmul(q, k), n.number(.125))), v)
		}}, operator{fmt.Sprintf("scaled_dot_product_attention, 8 heads, %d", tokens), 1, func(n *net) value {
			q, k, v := n.in("q", 1, 8, tokens, 64), n.in("k", 1, 8, tokens, 64), n.in("v", 1, 8, tokens, 64)
			mil := n.ScaledDotProductAttention(q.mil, k.mil, v.mil)
			t := n.both(mil, "Transpose", []value{k}, attribute{"perm", []int{0, 1, 3, 2}})
			s := n.both(mil, "MatMul", []value{q, t})
			s = n.both(mil, "Mul", []value{s, {onnx: n.number(.125).onnx}})
			s = n.both(mil, "Softmax", []value{s}, attribute{"axis", -1})
			return n.both(mil, "MatMul", []value{s, v})
		}})
	}
	add("block of GPT-2, 256 tokens", 1.2, block, 1, 256, 768)
	add("resnet18", 1.2, resnet18, 1, 3, 224, 224)
	add("mobilenetv2", 1.2, mobilenet, 1, 3, 224, 224)
	return all
}

// block is a block of GPT-2 small.
func block(n *net, x value) value {
	const tokens, width, heads = 256, 768, 12
	split := func(v value, order ...int) value {
		return n.transpose(n.reshape(v, 1, tokens, heads, width/heads), order...)
	}
	a := n.layerNorm(x, width)
	q, k := split(n.linear(a, width, width), 0, 2, 1, 3), split(n.linear(a, width, width), 0, 2, 3, 1)
	v := split(n.linear(a, width, width), 0, 2, 1, 3)
	s := n.softmax(n.mul(n.matmul(q, k), n.number(.125)))
	o := n.reshape(n.transpose(n.matmul(s, v), 0, 2, 1, 3), 1, tokens, width)
	x = n.add(x, n.linear(o, width, width))
	return n.add(x, n.linear(n.gelu(n.linear(n.layerNorm(x, width), width, 4*width)), 4*width, width))
}

// head makes 1,000 numbers of the last feature map.
func head(n *net, x value, channels int) value {
	return n.linear(n.mean(x, false, 2, 3), channels, 1000)
}

func resnet18(n *net, x value) value {
	x = n.maxPool(n.relu(n.conv(x, 3, 64, 7, 2, 1)), 3, 2)
	in := 64
	for _, out := range []int{64, 128, 256, 512} {
		for part := range 2 {
			stride := 1
			if part == 0 && out > 64 {
				stride = 2
			}
			y := n.conv(n.relu(n.conv(x, in, out, 3, stride, 1)), out, out, 3, 1, 1)
			if in != out {
				x = n.conv(x, in, out, 1, stride, 1)
			}
			x, in = n.relu(n.add(y, x)), out
		}
	}
	return head(n, x, 512)
}

func mobilenet(n *net, x value) value {
	x = n.relu6(n.conv(x, 3, 32, 3, 2, 1))
	in := 32
	for _, l := range [][4]int{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1},
		{6, 160, 3, 2}, {6, 320, 1, 1}} {
		out, stride := l[1], l[3]
		for range l[2] {
			y, wide := x, in*l[0]
			if wide != in {
				y = n.relu6(n.conv(y, in, wide, 1, 1, 1))
			}
			y = n.conv(n.relu6(n.conv(y, wide, wide, 3, stride, wide)), wide, out, 1, 1, 1)
			if stride == 1 && in == out {
				y = n.add(x, y)
			}
			x, in, stride = y, out, 1
		}
	}
	return head(n, n.relu6(n.conv(x, 320, 1280, 1, 1, 1)), 1280)
}
