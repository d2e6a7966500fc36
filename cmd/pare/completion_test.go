package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// grammarModel returns the command-line grammar of the parser.
func grammarModel(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := newParser(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// TestCompletionHasEveryFlag checks that every script contains each command, each of its flags
// and each value of a list, and that the shell, if installed, accepts the script.
func TestCompletionHasEveryFlag(t *testing.T) {
	app := grammarModel(t)
	for shell, flag := range map[string]string{"bash": "--%", "zsh": "--%", "fish": "-l %"} {
		o := pareRun(t, "completion", shell)
		if o.code != exitOK || o.stderr != "" {
			t.Fatalf("%s: exit %d, %s", shell, o.code, o.stderr)
		}
		for _, c := range app.Children {
			if !strings.Contains(o.stdout, c.Name) {
				t.Errorf("%s: no command %s", shell, c.Name)
			}
			for _, f := range c.Flags {
				written := regexp.MustCompile(regexp.QuoteMeta(strings.ReplaceAll(flag, "%", f.Name)) + `\b`)
				if !written.MatchString(o.stdout) {
					t.Errorf("%s: no flag --%s of %s", shell, f.Name, c.Name)
				}
				for _, v := range values(f.Name) {
					if !strings.Contains(o.stdout, v) {
						t.Errorf("%s: no value %s of --%s", shell, v, f.Name)
					}
				}
			}
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		if out, err := exec.Command(path, "-n", writeFile(t, shell, o.stdout)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
	if o := pareRun(t, "completion", "csh"); o.code != exitUsage || !strings.Contains(o.stderr, "bash, zsh and fish") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

// TestCompletionOffersWhatTheCommandTakes checks that flags with a fixed list of values
// complete to all values that the library accepts.
func TestCompletionOffersWhatTheCommandTakes(t *testing.T) {
	for _, flag := range []string{"model", "criterion", "split", "search", "tol-schedule", "method", "solver", "missing"} {
		for _, v := range values(flag) {
			o := pareRun(t, "select", "no-such-file", "--"+flag, v)
			if strings.Contains(o.stderr, "no "+flag) {
				t.Errorf("--%s %s is offered, and refused: %s", flag, v, o.stderr)
			}
		}
	}
}

func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	script := writeFile(t, "pare.bash", pareRun(t, "completion", "bash").stdout)
	for line, want := range map[string]string{
		"pare se": "select", "pare select --mod": "--model", "pare select --model rid": "ridge", "pare select --model = rid": "ridge",
		"pare help fol": "folds", "pare fit --no-int": "--no-intercept", "pare completion z": "zsh", "pare report -": "-o",
	} {
		program := `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pare; echo "${COMPREPLY[*]}"`
		out, err := exec.Command(bash, append([]string{"-c", program, script}, strings.Fields(line)...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, %s", line, err, out)
		}
	}
}

// TestManual checks that the manual has every flag and topic, and no line that its format would
// read as a request.
func TestManual(t *testing.T) {
	o := pareRun(t, "man")
	if o.code != exitOK || !strings.HasPrefix(o.stdout, ".TH PARE 1\n") {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	for _, c := range grammarModel(t).Children {
		for _, f := range c.Flags {
			if f.Name != "help" && !strings.Contains(o.stdout, roff("--"+f.Name)) {
				t.Errorf("no --%s", f.Name)
			}
		}
	}
	request := regexp.MustCompile(`^\.(TH|SH|SS|B|I|TP|br|nf|fi)( |$)`)
	for line := range strings.Lines(o.stdout) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !request.MatchString(line) {
			t.Errorf("taken for a request: %s", line)
		}
	}
	for _, topic := range topics {
		if !strings.Contains(o.stdout, ".SH "+strings.ToUpper(topic)) {
			t.Errorf("no topic %s", topic)
		}
	}
}
