// Command mutate asks whether the tests of package kernels would notice a slip
// in its assembly: it changes one instruction at a time in a copy of the module
// and runs the tests there. A change that no test notices is reported.
//
// From the module's root:
//
//	go run ./kernels/testdata/mutate -set avx2            # 200 changes, chosen by -seed
//	go run ./kernels/testdata/mutate -set avx2 -labels    # a trap behind every label: is every stage executed?
//	GOARCH=arm64 CGO_ENABLED=0 go run ./kernels/testdata/mutate -set neon -exec qemu-aarch64-static
//
// (For the last, build the command for this machine first: go build -o mutate.)
//
// The sample is uniform over all changes that the rules below allow in the files of
// the set, headers included. Survivors that change no result are in
// docs/assembly.md, with the reason.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	count := flag.Int("n", 200, "number of changes")
	seed := flag.Uint64("seed", 1, "chooses the changes")
	set := flag.String("set", "avx2", "the set whose files are changed")
	runner := flag.String("exec", "", "a program that runs the test binary")
	labels := flag.Bool("labels", false, "put a trap behind every label instead")
	limit := flag.Duration("limit", 90*time.Second, "for one run of the tests")
	flag.Parse()
	if err := run(*count, *seed, *set, *runner, *labels, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// A mutant is one changed line of one file.
type mutant struct {
	path string // below the module's root
	line int    // from 0
	text string // what stands there instead
	was  string
}

func run(count int, seed uint64, set, runner string, labels bool, limit time.Duration) error {
	root, err := copyModule()
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	args := []string{"test", "-short", "-failfast", "./kernels"}
	if runner != "" {
		args = append(args, "-exec", runner)
	}
	if labels { // a trap is not in the lists of instructions: leave the static rules out
		args = append(args, "-skip", "Assembly|Twin|Gate")
	}
	if out, ok := test(root, args, limit); !ok {
		return fmt.Errorf("the tests fail without any change:\n%s", out)
	}
	mutants, err := list(root, set, labels)
	if err != nil {
		return err
	}
	if !labels {
		rng := rand.New(rand.NewPCG(seed, 0))
		rng.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	}
	tried, killed := 0, 0
	for _, m := range mutants {
		if tried == count && !labels {
			break
		}
		verdict, err := try(root, m, args, limit)
		if err != nil {
			return err
		}
		switch verdict {
		case "not assembled":
			continue
		case "killed":
			killed++
		default:
			fmt.Printf("survived: %s:%d: %s  was  %s\n", m.path, m.line+1, strings.TrimSpace(m.text), strings.TrimSpace(m.was))
		}
		tried++
	}
	fmt.Printf("%d of %d changes noticed (%.1f %%)\n", killed, tried, 100*float64(killed)/float64(max(tried, 1)))
	return nil
}

// try runs the tests with one change and takes it back.
func try(root string, m mutant, args []string, limit time.Duration) (verdict string, err error) {
	path := filepath.Join(root, m.path)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(text), "\n")
	lines[m.line] = m.text
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		return "", err
	}
	defer func() {
		if e := os.WriteFile(path, text, 0o600); err == nil {
			err = e
		}
	}()
	out, ok := test(root, args, limit)
	switch {
	case ok:
		return "survived", nil
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return "not assembled", nil
	}
	return "killed", nil
}

// test runs go test; an endless loop counts as a failure.
func test(root string, args []string, limit time.Duration) (output string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = root
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	return string(out), err == nil
}

// copyModule copies what package kernels needs into a temporary module.
func copyModule() (root string, err error) {
	if root, err = os.MkdirTemp("", "mutate"); err != nil {
		return "", err
	}
	for _, from := range []string{"go.mod", "go.sum", "kernels", "internal/guard"} {
		err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.MkdirAll(filepath.Join(root, path), 0o700)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(root, path), text, 0o600)
		})
		if err != nil {
			return root, err
		}
	}
	return root, nil
}

// list returns every change that the rules below make.
func list(root, set string, labels bool) ([]mutant, error) {
	architecture := "amd64"
	if set == "neon" {
		architecture = "arm64"
	}
	paths, err := filepath.Glob(filepath.Join(root, "kernels", architecture, "*"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, path := range paths {
		base := filepath.Base(path)
		if ext := filepath.Ext(path); ext != ".s" && ext != ".h" {
			continue
		}
		if other := strings.Contains(base, "_avx") && !strings.Contains(base, "_"+set+"_"); other {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			changes := mutations(line)
			if labels {
				changes = trap(line)
			}
			for _, changed := range changes {
				all = append(all, mutant{path: name, line: i, text: changed, was: line})
			}
		}
	}
	return all, nil
}

var label = regexp.MustCompile(`^(\w+:)(\s*\\)?$`)

func trap(line string) []string {
	if m := label.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		if m[2] != "" {
			return []string{m[1] + ` ; UD2 \`}
		}
		return []string{m[1] + " UD2"}
	}
	return nil
}

// exchanges are pairs of instructions that a slip might confuse.
var exchanges = []struct{ from, to string }{
	{"VFMADD231PD", "VFNMADD231PD"}, {"VFNMADD231PD", "VFMADD231PD"}, {"VFMADD231SD", "VFNMADD231SD"},
	{"VFMADD213PD", "VFMADD231PD"}, {"VFMADD213SD", "VFMADD231SD"},
	{"VADDPD", "VSUBPD"}, {"VSUBPD", "VADDPD"}, {"VADDSD", "VSUBSD"}, {"VSUBSD", "VADDSD"}, {"VMULPD", "VADDPD"}, {"VMULSD", "VADDSD"},
	{"VMAXPD", "VMINPD"}, {"VMINPD", "VMAXPD"}, {"VMAXSD", "VMINSD"}, {"VPMAXUQ", "VPMAXSQ"},
	{"VANDPD", "VORPD"}, {"VORPD", "VANDPD"}, {"VXORPD", "VORPD"}, {"VPANDQ", "VPORQ"},
	{"VUNPCKHPD", "VUNPCKLPD"}, {"VMOVHPD", "VMOVLPD"},
	{"VPSRLQ", "VPSLLQ"}, {"VPSLLQ", "VPSRLQ"}, {"VPADDQ", "VPSUBQ"}, {"VPSUBQ", "VPADDQ"},
	{"ADDQ", "SUBQ"}, {"SUBQ", "ADDQ"}, {"ANDQ", "ORQ"}, {"SHRQ", "SHLQ"}, {"MOVL", "MOVLQSX"},
	{"VFNMADD231SD", "VFMADD231SD"}, {"VFNMADD231PD.BCST", "VFMADD231PD.BCST"}, {"VFMADD231PD.BCST", "VFNMADD231PD.BCST"},
	{"VANDNPD", "VANDPD"}, {"INCQ", "DECQ"}, {"JE", "JNE"}, {"VDIVSD", "VMULSD"}, {"VDIVPD", "VMULPD"},

	{"VFMLA", "VFMLS"}, {"VFMLS", "VFMLA"}, {"FMADDD", "FMSUBD"}, {"FADDD", "FSUBD"}, {"FSUBD", "FADDD"}, {"FMULD", "FADDD"},
	{"FDIVD", "FMULD"}, {"FMAXD", "FMIND"}, {"FNEGD", "FABSD"}, {"FABSD", "FNEGD"}, {"VAND", "VORR"}, {"VEOR", "VORR"},
	{"ADD", "SUB"}, {"SUB", "ADD"}, {"ADDS", "SUBS"}, {"SUBS", "ADDS"}, {"AND", "ORR"}, {"LSR", "LSL"}, {"LSL", "LSR"}, {"MOVWU", "MOVW"},
	{"BLT", "BLE"}, {"BGE", "BGT"}, {"BGT", "BGE"}, {"BNE", "BEQ"}, {"BEQ", "BNE"}, {"CBZ", "CBNZ"}, {"TBZ", "TBNZ"},

	{"JLT", "JLE"}, {"JGE", "JGT"}, {"JLE", "JLT"}, {"JZ", "JNZ"}, {"JNZ", "JZ"}, {"JA", "JAE"}, {"JNE", "JEQ"},
}

var (
	instruction = regexp.MustCompile(`^\s*[A-Z][A-Z0-9.]*\b`)
	number      = regexp.MustCompile(`(\$|[ (,])(\d+)\b`)
	register    = regexp.MustCompile(`\b([XYZVF])(\d+)\b`)
)

// mutations are the slips that one line allows.
func mutations(line string) []string {
	code, _, _ := strings.Cut(line, "//")
	code = strings.TrimRight(code, " \t")
	mnemonic := strings.TrimSpace(instruction.FindString(code))
	skip := mnemonic == "" || strings.HasPrefix(mnemonic, "TEXT") || strings.HasPrefix(mnemonic, "GLOBL") ||
		strings.Contains(code, "(FP)") || strings.HasPrefix(mnemonic, "CMOV")
	if skip {
		return nil
	}
	more := strings.HasSuffix(code, `\`)
	body := strings.TrimSpace(strings.TrimSuffix(code, `\`))
	finish := func(s string) string {
		if more {
			return "\t" + s + ` \`
		}
		return "\t" + s
	}
	var all []string
	if mnemonic != "DATA" && mnemonic != "RET" {
		if more || !strings.HasPrefix(body, "BLOCK") {
			all = append(all, finish("")) // the line is forgotten
		}
	}
	for _, e := range exchanges {
		if mnemonic == e.from {
			all = append(all, finish(strings.Replace(body, e.from, e.to, 1)))
		}
	}
	if m := number.FindStringSubmatchIndex(body); m != nil { // the first number is off by one, or by an element
		digits := body[m[4]:m[5]]
		var n int
		fmt.Sscan(digits, &n)
		step := 8
		if body[m[2]] == '$' {
			step = 1
		}
		all = append(all, finish(body[:m[4]]+fmt.Sprint(n+step)+body[m[5]:]))
	}
	if m := register.FindAllStringSubmatchIndex(body, -1); len(m) > 0 { // a wrong register
		last := m[len(m)-1]
		var n int
		fmt.Sscan(body[last[4]:last[5]], &n)
		all = append(all, finish(body[:last[4]]+fmt.Sprint((n+1)%8)+body[last[5]:]))
	}
	return all
}
