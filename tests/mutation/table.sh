# Reads tests/mutation/*.txt into arrays by id; for `source`.
declare -a ids=()
declare -A rows=() files=() olds=() news=() builds=() fails=()

fail() {
  echo "$1" >&2
  exit 1
}

# How often a text occurs in a file.
occurrences() {
  local LC_ALL=C text rest
  [[ -f $2 ]] || { echo 0; return; }
  text=$(<"$2")
  rest=${text//"$1"/}
  echo $(((${#text} - ${#rest}) / ${#1}))
}

read_tables() {
  local line id=
  while IFS= read -r line; do
    case $line in
      'id: '*)
        id=${line#id: }
        [[ -v files[$id] ]] && fail "tests/mutation: $id stands there twice"
        ids+=("$id")
        files[$id]=
        builds[$id]=
        ;;
      'rows: '*) rows[$id]=${line#rows: } ;;
      'file: '*) files[$id]=${line#file: } ;;
      'old: '*) olds[$id]+=${olds[$id]+$'\n'}${line#old: } ;;
      'new: '* | 'new:') line=${line#new:} && news[$id]+=${news[$id]+$'\n'}${line# } ;;
      'build: '*) builds[$id]=${line#build: } ;;
      'fails: '*) fails[$id]+=" ${line#fails: }" ;;
      '' | '#'*) ;;
      *) fail "tests/mutation: cannot read the line '$line'" ;;
    esac
  done < <(cat "${BASH_SOURCE[0]%/*}"/*.txt)
}
