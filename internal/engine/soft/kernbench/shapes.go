package main

import (
	_ "embed" // the list of shapes
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// shapes has a line for each case: its name, inputs, result, statements, and its products if it is one of those.
//
//go:embed shapes.txt
var shapes string

// shapeCases are operators on shapes that programs of networks have, each beside a copy of as many bytes as it reads
// and writes, or a product of as many products. A kernel that goes from one element to the next takes tens of copies.
func shapeCases() (all []benchCase) {
	for _, line := range strings.Split(strings.TrimSpace(shapes), "\n") {
		part := strings.Split(line, " | ")
		name, inputs, result, body := part[0], part[1], part[2], part[3]
		c := benchCase{name: "shape: " + name, items: volume(result), target: 5, workers: 1,
			text: text(spelled(inputs), spelled(lastName.ReplaceAllString(body, "${1}"+result+" y =")))}
		moved := size(result)
		for _, in := range strings.Split(inputs, ", ") {
			moved += size(in)
		}
		c.floor, c.floorName = copies(moved/4), "copy of as many bytes"
		if len(part) > 4 {
			c.items, _ = strconv.Atoi(part[4])
			c.floor, c.floorName, c.target = multiplies(c.items), "bare multiply-add loop", 2
		}
		all = append(all, c)
	}
	return all
}

// types are the abbreviations of element types in shapes, and their sizes.
var types = map[string]struct {
	name string
	size int
}{"h": {"fp16", 2}, "s": {"fp32", 4}, "i": {"int32", 4}, "b": {"bool", 1}}

var (
	lastName   = regexp.MustCompile(`(^|; |second, )y =`)
	shortType  = regexp.MustCompile(`\b([hsib])\[([\d,]+)\]`)
	shortList  = regexp.MustCompile(`\{([-\d,]+)\}`)
	shortWords = regexp.MustCompile(`'([^']+)'`)
)

// spelled writes h[2,3] as a type, {1,2} as integers, and 'same' as a string of MIL.
func spelled(s string) string {
	s = shortList.ReplaceAllStringFunc(s, func(l string) string {
		return fmt.Sprintf("tensor<int32, [%d]>([%s])", strings.Count(l, ",")+1, l[1:len(l)-1])
	})
	s = shortType.ReplaceAllStringFunc(s, func(t string) string {
		m := shortType.FindStringSubmatch(t)
		return "tensor<" + types[m[1]].name + ", [" + m[2] + "]>"
	})
	return shortWords.ReplaceAllString(s, `string("$1")`)
}

// volume is the elements of the first type in s, size their bytes.
func volume(s string) int {
	n := 1
	for _, d := range strings.Split(shortType.FindStringSubmatch(s)[2], ",") {
		k, _ := strconv.Atoi(d)
		n *= k
	}
	return n
}

func size(s string) int { return volume(s) * types[s[:1]].size }
