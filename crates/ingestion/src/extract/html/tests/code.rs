use super::{prose, text};

#[test]
fn lines_of_code_in_elements_of_their_own_are_lines() {
    for code in [
        "<pre data-language=sh><code><div class=ec-line><div class=code><span>npm install</span></div></div>\
         <div class=ec-line><div class=code>\n</div></div><div class=ec-line><div class=code>npm run</div></div></code></pre>",
        "<pre><span>npm install</span><br><br><p>npm run</p></pre>",
        "<pre><div class=token-line>npm install<br></div><div class=token-line><br></div><div>npm run</div></pre>",
    ] {
        assert_eq!(
            text(&format!("<main>{code}</main>")),
            "```\nnpm install\n\nnpm run\n```",
            "{code}"
        );
    }
}

#[test]
fn line_numbers_are_not_code() {
    for code in [
        "<pre><span class=linenos>1</span>ebb\n<span class=linenos>2</span>flood 5\n</pre>",
        "<table class=highlighttable><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre></div></td>
         <td class=code><pre>ebb\nflood 5</pre></td></table>",
        "<div><table><tr><td class=lntd><pre><code><span class=lnt>1\n</span><span class=lnt>2\n</span></code></pre></td>
         <td class=lntd><pre>ebb\nflood 5</pre></td></table></div>",
        "<table><tr><td class='gutter gl'><pre class=lineno>1\n2\n</pre></td><td class=code><pre>ebb\nflood 5\n</pre></td></table>",
        "<pre><table class=hljs-ln><tr><td class='hljs-ln-line hljs-ln-numbers'>1</td><td>ebb</td></tr>\
         <tr><td class='hljs-ln-line hljs-ln-numbers'>2</td><td>flood 5</td></tr></table></pre>",
    ] {
        assert_eq!(text(&format!("<main>{code}</main>")), "```\nebb\nflood 5\n```", "{code}");
    }
    let data = "<table><tr><th>Name<th>Number<tr><td>Doe<td class=ln>5</table>";
    assert_eq!(text(data), "| Name | Number |\n| --- | --- |\n| Doe | 5 |");
}

#[test]
fn code_in_a_figure_of_a_page_that_marks_nothing_is_kept() {
    let (pier, light) = (prose("pier"), prose("light"));
    let text = text(&format!(
        "<body><div><h1>Install</h1><p>{pier}</p><figure class=frame><pre>npm install</pre></figure><p>{light}</p></div>"
    ));
    assert!(text.contains("```\nnpm install\n```"), "{text}");
}
