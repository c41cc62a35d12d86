import{o as e,s as t}from"./links-8jXKMuyt.js";var n=[`link`,`bold`,`italic`],r={link:`a`,bold:`strong`,italic:`em`};function i(e){return e.content.map(a).join(`
`)}function a(e){let t=e.content??[];switch(e.type){case`heading`:return`<h2>${s(t)}</h2>`;case`bulletList`:return`<ul>\n${t.map(o).join(`
`)}\n</ul>`;case`orderedList`:return`<ol>\n${t.map(o).join(`
`)}\n</ol>`;case`blockquote`:return`<blockquote>${t.map(a).join(`
`)}</blockquote>`;default:return`<p>${s(t)||`<br>`}</p>`}}function o({content:e=[]}){let[t]=e;return`<li>${e.length===1&&t?s(t.content??[]):e.map(a).join(``)}</li>`}function s(e){let i=``,a=[],o=e=>{let t=0;for(;t<a.length&&t<e.length&&c(a[t],e[t]);)t++;for(let e of a.slice(t).reverse())i+=`</${r[e.type]??``}>`;for(let n of e.slice(t))i+=l(n);a=e};for(let a of e)o((a.marks??[]).filter(({type:e})=>e in r).toSorted((e,t)=>n.indexOf(e.type)-n.indexOf(t.type))),i+=a.type===`hardBreak`?`<br>`:u(t(a));return o([]),i}function c(e,t){return e?.type===t?.type&&e?.attrs?.href===t?.attrs?.href}function l(t){let n=e([t]);return n===void 0?`<${r[t.type]??``}>`:`<a href="${u(n).replaceAll(`"`,`&quot;`)}">`}function u(e){return e.replaceAll(`&`,`&amp;`).replaceAll(`<`,`&lt;`).replaceAll(`>`,`&gt;`)}function d(e){return f(e.content).trim()}function f(e){return e.map(p).join(`

`)}function p(e){let t=e.content??[];switch(e.type){case`bulletList`:return t.map(e=>m(`- `,`  `,f(e.content??[]))).join(`
`);case`orderedList`:return t.map((e,t)=>m(`${t+1}. `,` `.repeat(`${t+1}. `.length),f(e.content??[]))).join(`
`);case`blockquote`:return m(`> `,`> `,f(t)).replace(/> $/gm,`>`);default:return h(t)}}function m(e,t,n){return n.split(`
`).map((n,r)=>n===``&&t.trim()===``?``:(r===0?e:t)+n).join(`
`)}function h(n){let r=``,i=``;return n.forEach((a,o)=>{let s=t(a);r+=s;let c=e(a.marks);if(c===void 0||(i+=s,e(n[o+1]?.marks)===c))return;let l=c.replace(/^(mailto|tel):/i,``);i.trim()!==c&&i.trim()!==l&&(r+=` (${l})`),i=``}),r}export{d as n,i as t};