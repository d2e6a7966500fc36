package studies

// colours are the colours of methods and, by their names in tables, of searches, the same in every figure. Two
// that never share a figure may share a colour.
var colours = map[string]int{
	"forward PCD":             1,
	"implicit":                2,
	"implicit, our solver":    2,
	"backward PCD":            3,
	"forward PGD":             4,
	"backward PGD":            5,
	"implicit, plain descent": 6,

	"secant":          1,
	"trust-region":    1,
	"gradient":        2,
	"gradient-approx": 3,
	"grid":            4,
	"one-ratio":       4,
	"random":          5,
	"tpe":             6,
}
