var ns=Object.defineProperty;var rs=Object.getOwnPropertyDescriptor;var v=(e,n,t,r)=>{for(var o=r>1?void 0:r?rs(n,t):n,i=e.length-1,a;i>=0;i--)(a=e[i])&&(o=(r?a(n,t,o):a(o))||o);return r&&o&&ns(n,t,o),o};var he=class extends Error{},Je=class extends he{constructor(t){super("This browser has no DecompressionStream.");this.document=t}},qr="regard.view/1",os={f4:4,f2:2,u1:1,u2:2,u4:4};function is(e){let n;try{n=JSON.parse(e)}catch{throw new he("The header of this page is not JSON.")}if(typeof n!="object"||n===null)throw new he("The header of this page is empty.");let t=n;if(t.format!==qr)throw new he(`This page is of the format ${String(t.format)}; wanted ${qr}.`);return{kind:"attention",...{language:null,title:"",made:"",notes:[],tokens:[],layers:[],called:null,maps:[],backdrop:null,kernel:null,live:null},...t}}async function as(e){let n=Uint8Array.from(atob(e.trim()),r=>r.charCodeAt(0));if(n.length===0)return new ArrayBuffer(0);let t=new Blob([n]).stream().pipeThrough(new DecompressionStream("deflate"));return new Response(t).arrayBuffer()}function ss(e){let n=e.grids.map(t=>({at:t.at,type:t.type,count:t.rows*t.cols}));if(e.top){let t=e.rows*e.top.count;n.push({...e.top.keys,count:t},{...e.top.weights,count:t})}return e.entropy&&n.push(e.entropy),e.received&&n.push(e.received),n}function ls(e,n){let t=e.maps.flatMap(ss);e.kernel&&t.push(e.kernel.x,e.kernel.y);for(let{at:r,type:o,count:i}of t){let a=r+i*os[o];if(!(Number.isInteger(r)&&r>=0&&r%4===0&&a<=n.byteLength))throw new he(`The page is torn: numbers at ${r} to ${a}, but there are ${n.byteLength} bytes.`)}}async function Wr(e){let n=e.getElementById("regard-document")?.textContent;if(!n)throw new he("This page holds no document.");let t=is(n);if(typeof DecompressionStream>"u")throw new Je(t);let r;try{r=await as(e.getElementById("regard-data")?.textContent??"")}catch{throw new he("The numbers of this page cannot be unpacked: the file is torn.")}return ls(t,r),{document:t,bytes:r}}var Le=null;function cs(){if(Le)return Le;Le=new Float32Array(65536);for(let e=0;e<65536;e+=1){let n=e&32768?-1:1,t=e>>10&31,r=e&1023;t===0?Le[e]=n*r*2**-24:t===31?Le[e]=r?NaN:n*(1/0):Le[e]=n*(1+r/1024)*2**(t-15)}return Le}function ge(e,n,t=255){let{at:r,type:o,count:i}=n;if(o==="f4")return new Float32Array(e,r,i);let a=new Float32Array(i);if(o==="f2"){let s=cs(),l=new Uint16Array(e,r,i);for(let c=0;c<i;c+=1)a[c]=s[l[c]]}else if(o==="u1"){let s=new Uint8Array(e,r,i);for(let l=0;l<i;l+=1)a[l]=s[l]/255*t}else a.set(Fr(e,n));return a}function Fr(e,{at:n,type:t,count:r}){return t==="u4"?new Uint32Array(e,n,r):new Uint16Array(e,n,r)}function Ze(e,n){return ge(e,{at:n.at,type:n.type,count:n.rows*n.cols},n.one)}function Hr(e,n){if(!n.top||n.top.count<1)return null;let t=n.rows*n.top.count;return{count:n.top.count,keys:Fr(e,{...n.top.keys,count:t}),weights:ge(e,{...n.top.weights,count:t})}}function _e(e,n,t){return(n===null?void 0:e.tokens[n]?.[t])??String(t)}var Gt=globalThis,Yt=Gt.ShadowRoot&&(Gt.ShadyCSS===void 0||Gt.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,jn=Symbol(),Ur=new WeakMap,wt=class{constructor(n,t,r){if(this._$cssResult$=!0,r!==jn)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=n,this.t=t}get styleSheet(){let n=this.o,t=this.t;if(Yt&&n===void 0){let r=t!==void 0&&t.length===1;r&&(n=Ur.get(t)),n===void 0&&((this.o=n=new CSSStyleSheet).replaceSync(this.cssText),r&&Ur.set(t,n))}return n}toString(){return this.cssText}},Vr=e=>new wt(typeof e=="string"?e:e+"",void 0,jn),z=(e,...n)=>{let t=e.length===1?e[0]:n.reduce((r,o,i)=>r+(a=>{if(a._$cssResult$===!0)return a.cssText;if(typeof a=="number")return a;throw Error("Value passed to 'css' function must be a 'css' function result: "+a+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(o)+e[i+1],e[0]);return new wt(t,e,jn)},Kr=(e,n)=>{if(Yt)e.adoptedStyleSheets=n.map(t=>t instanceof CSSStyleSheet?t:t.styleSheet);else for(let t of n){let r=document.createElement("style"),o=Gt.litNonce;o!==void 0&&r.setAttribute("nonce",o),r.textContent=t.cssText,e.appendChild(r)}},Gn=Yt?e=>e:e=>e instanceof CSSStyleSheet?(n=>{let t="";for(let r of n.cssRules)t+=r.cssText;return Vr(t)})(e):e;var{is:us,defineProperty:ds,getOwnPropertyDescriptor:fs,getOwnPropertyNames:hs,getOwnPropertySymbols:ms,getPrototypeOf:ps}=Object,Xt=globalThis,jr=Xt.trustedTypes,bs=jr?jr.emptyScript:"",gs=Xt.reactiveElementPolyfillSupport,vt=(e,n)=>e,xt={toAttribute(e,n){switch(n){case Boolean:e=e?bs:null;break;case Object:case Array:e=e==null?e:JSON.stringify(e)}return e},fromAttribute(e,n){let t=e;switch(n){case Boolean:t=e!==null;break;case Number:t=e===null?null:Number(e);break;case Object:case Array:try{t=JSON.parse(e)}catch{t=null}}return t}},Qt=(e,n)=>!us(e,n),Gr={attribute:!0,type:String,converter:xt,reflect:!1,useDefault:!1,hasChanged:Qt};Symbol.metadata??=Symbol("metadata"),Xt.litPropertyMetadata??=new WeakMap;var me=class extends HTMLElement{static addInitializer(n){this._$Ei(),(this.l??=[]).push(n)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(n,t=Gr){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(n)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(n,t),!t.noAccessor){let r=Symbol(),o=this.getPropertyDescriptor(n,r,t);o!==void 0&&ds(this.prototype,n,o)}}static getPropertyDescriptor(n,t,r){let{get:o,set:i}=fs(this.prototype,n)??{get(){return this[t]},set(a){this[t]=a}};return{get:o,set(a){let s=o?.call(this);i?.call(this,a),this.requestUpdate(n,s,r)},configurable:!0,enumerable:!0}}static getPropertyOptions(n){return this.elementProperties.get(n)??Gr}static _$Ei(){if(this.hasOwnProperty(vt("elementProperties")))return;let n=ps(this);n.finalize(),n.l!==void 0&&(this.l=[...n.l]),this.elementProperties=new Map(n.elementProperties)}static finalize(){if(this.hasOwnProperty(vt("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(vt("properties"))){let t=this.properties,r=[...hs(t),...ms(t)];for(let o of r)this.createProperty(o,t[o])}let n=this[Symbol.metadata];if(n!==null){let t=litPropertyMetadata.get(n);if(t!==void 0)for(let[r,o]of t)this.elementProperties.set(r,o)}this._$Eh=new Map;for(let[t,r]of this.elementProperties){let o=this._$Eu(t,r);o!==void 0&&this._$Eh.set(o,t)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(n){let t=[];if(Array.isArray(n)){let r=new Set(n.flat(1/0).reverse());for(let o of r)t.unshift(Gn(o))}else n!==void 0&&t.push(Gn(n));return t}static _$Eu(n,t){let r=t.attribute;return r===!1?void 0:typeof r=="string"?r:typeof n=="string"?n.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(n=>this.enableUpdating=n),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(n=>n(this))}addController(n){(this._$EO??=new Set).add(n),this.renderRoot!==void 0&&this.isConnected&&n.hostConnected?.()}removeController(n){this._$EO?.delete(n)}_$E_(){let n=new Map,t=this.constructor.elementProperties;for(let r of t.keys())this.hasOwnProperty(r)&&(n.set(r,this[r]),delete this[r]);n.size>0&&(this._$Ep=n)}createRenderRoot(){let n=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return Kr(n,this.constructor.elementStyles),n}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(n=>n.hostConnected?.())}enableUpdating(n){}disconnectedCallback(){this._$EO?.forEach(n=>n.hostDisconnected?.())}attributeChangedCallback(n,t,r){this._$AK(n,r)}_$ET(n,t){let r=this.constructor.elementProperties.get(n),o=this.constructor._$Eu(n,r);if(o!==void 0&&r.reflect===!0){let i=(r.converter?.toAttribute!==void 0?r.converter:xt).toAttribute(t,r.type);this._$Em=n,i==null?this.removeAttribute(o):this.setAttribute(o,i),this._$Em=null}}_$AK(n,t){let r=this.constructor,o=r._$Eh.get(n);if(o!==void 0&&this._$Em!==o){let i=r.getPropertyOptions(o),a=typeof i.converter=="function"?{fromAttribute:i.converter}:i.converter?.fromAttribute!==void 0?i.converter:xt;this._$Em=o;let s=a.fromAttribute(t,i.type);this[o]=s??this._$Ej?.get(o)??s,this._$Em=null}}requestUpdate(n,t,r,o=!1,i){if(n!==void 0){let a=this.constructor;if(o===!1&&(i=this[n]),r??=a.getPropertyOptions(n),!((r.hasChanged??Qt)(i,t)||r.useDefault&&r.reflect&&i===this._$Ej?.get(n)&&!this.hasAttribute(a._$Eu(n,r))))return;this.C(n,t,r)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(n,t,{useDefault:r,reflect:o,wrapped:i},a){r&&!(this._$Ej??=new Map).has(n)&&(this._$Ej.set(n,a??t??this[n]),i!==!0||a!==void 0)||(this._$AL.has(n)||(this.hasUpdated||r||(t=void 0),this._$AL.set(n,t)),o===!0&&this._$Em!==n&&(this._$Eq??=new Set).add(n))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(t){Promise.reject(t)}let n=this.scheduleUpdate();return n!=null&&await n,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[o,i]of this._$Ep)this[o]=i;this._$Ep=void 0}let r=this.constructor.elementProperties;if(r.size>0)for(let[o,i]of r){let{wrapped:a}=i,s=this[o];a!==!0||this._$AL.has(o)||s===void 0||this.C(o,void 0,i,s)}}let n=!1,t=this._$AL;try{n=this.shouldUpdate(t),n?(this.willUpdate(t),this._$EO?.forEach(r=>r.hostUpdate?.()),this.update(t)):this._$EM()}catch(r){throw n=!1,this._$EM(),r}n&&this._$AE(t)}willUpdate(n){}_$AE(n){this._$EO?.forEach(t=>t.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(n)),this.updated(n)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(n){return!0}update(n){this._$Eq&&=this._$Eq.forEach(t=>this._$ET(t,this[t])),this._$EM()}updated(n){}firstUpdated(n){}};me.elementStyles=[],me.shadowRootOptions={mode:"open"},me[vt("elementProperties")]=new Map,me[vt("finalized")]=new Map,gs?.({ReactiveElement:me}),(Xt.reactiveElementVersions??=[]).push("2.1.2");var Xn=globalThis,Yr=e=>e,Jt=Xn.trustedTypes,Xr=Jt?Jt.createPolicy("lit-html",{createHTML:e=>e}):void 0,Qn="$lit$",pe=`lit$${Math.random().toFixed(9).slice(2)}$`,Jn="?"+pe,ys=`<${Jn}>`,Re=document,$t=()=>Re.createComment(""),kt=e=>e===null||typeof e!="object"&&typeof e!="function",Zn=Array.isArray,no=e=>Zn(e)||typeof e?.[Symbol.iterator]=="function",Yn=`[ 	
\f\r]`,Mt=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,Qr=/-->/g,Jr=/>/g,Pe=RegExp(`>|${Yn}(?:([^\\s"'>=/]+)(${Yn}*=${Yn}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),Zr=/'/g,eo=/"/g,ro=/^(?:script|style|textarea|title)$/i,er=e=>(n,...t)=>({_$litType$:e,strings:n,values:t}),y=er(1),Au=er(2),Tu=er(3),F=Symbol.for("lit-noChange"),x=Symbol.for("lit-nothing"),to=new WeakMap,ze=Re.createTreeWalker(Re,129);function oo(e,n){if(!Zn(e)||!e.hasOwnProperty("raw"))throw Error("invalid template strings array");return Xr!==void 0?Xr.createHTML(n):n}var io=(e,n)=>{let t=e.length-1,r=[],o,i=n===2?"<svg>":n===3?"<math>":"",a=Mt;for(let s=0;s<t;s++){let l=e[s],c,d,u=-1,f=0;for(;f<l.length&&(a.lastIndex=f,d=a.exec(l),d!==null);)f=a.lastIndex,a===Mt?d[1]==="!--"?a=Qr:d[1]!==void 0?a=Jr:d[2]!==void 0?(ro.test(d[2])&&(o=RegExp("</"+d[2],"g")),a=Pe):d[3]!==void 0&&(a=Pe):a===Pe?d[0]===">"?(a=o??Mt,u=-1):d[1]===void 0?u=-2:(u=a.lastIndex-d[2].length,c=d[1],a=d[3]===void 0?Pe:d[3]==='"'?eo:Zr):a===eo||a===Zr?a=Pe:a===Qr||a===Jr?a=Mt:(a=Pe,o=void 0);let h=a===Pe&&e[s+1].startsWith("/>")?" ":"";i+=a===Mt?l+ys:u>=0?(r.push(c),l.slice(0,u)+Qn+l.slice(u)+pe+h):l+pe+(u===-2?s:h)}return[oo(e,i+(e[t]||"<?>")+(n===2?"</svg>":n===3?"</math>":"")),r]},At=class e{constructor({strings:n,_$litType$:t},r){let o;this.parts=[];let i=0,a=0,s=n.length-1,l=this.parts,[c,d]=io(n,t);if(this.el=e.createElement(c,r),ze.currentNode=this.el.content,t===2||t===3){let u=this.el.content.firstChild;u.replaceWith(...u.childNodes)}for(;(o=ze.nextNode())!==null&&l.length<s;){if(o.nodeType===1){if(o.hasAttributes())for(let u of o.getAttributeNames())if(u.endsWith(Qn)){let f=d[a++],h=o.getAttribute(u).split(pe),p=/([.?@])?(.*)/.exec(f);l.push({type:1,index:i,name:p[2],strings:h,ctor:p[1]==="."?en:p[1]==="?"?tn:p[1]==="@"?nn:Oe}),o.removeAttribute(u)}else u.startsWith(pe)&&(l.push({type:6,index:i}),o.removeAttribute(u));if(ro.test(o.tagName)){let u=o.textContent.split(pe),f=u.length-1;if(f>0){o.textContent=Jt?Jt.emptyScript:"";for(let h=0;h<f;h++)o.append(u[h],$t()),ze.nextNode(),l.push({type:2,index:++i});o.append(u[f],$t())}}}else if(o.nodeType===8)if(o.data===Jn)l.push({type:2,index:i});else{let u=-1;for(;(u=o.data.indexOf(pe,u+1))!==-1;)l.push({type:7,index:i}),u+=pe.length-1}i++}}static createElement(n,t){let r=Re.createElement("template");return r.innerHTML=n,r}};function Ne(e,n,t=e,r){if(n===F)return n;let o=r!==void 0?t._$Co?.[r]:t._$Cl,i=kt(n)?void 0:n._$litDirective$;return o?.constructor!==i&&(o?._$AO?.(!1),i===void 0?o=void 0:(o=new i(e),o._$AT(e,t,r)),r!==void 0?(t._$Co??=[])[r]=o:t._$Cl=o),o!==void 0&&(n=Ne(e,o._$AS(e,n.values),o,r)),n}var Zt=class{constructor(n,t){this._$AV=[],this._$AN=void 0,this._$AD=n,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(n){let{el:{content:t},parts:r}=this._$AD,o=(n?.creationScope??Re).importNode(t,!0);ze.currentNode=o;let i=ze.nextNode(),a=0,s=0,l=r[0];for(;l!==void 0;){if(a===l.index){let c;l.type===2?c=new et(i,i.nextSibling,this,n):l.type===1?c=new l.ctor(i,l.name,l.strings,this,n):l.type===6&&(c=new rn(i,this,n)),this._$AV.push(c),l=r[++s]}a!==l?.index&&(i=ze.nextNode(),a++)}return ze.currentNode=Re,o}p(n){let t=0;for(let r of this._$AV)r!==void 0&&(r.strings!==void 0?(r._$AI(n,r,t),t+=r.strings.length-2):r._$AI(n[t])),t++}},et=class e{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(n,t,r,o){this.type=2,this._$AH=x,this._$AN=void 0,this._$AA=n,this._$AB=t,this._$AM=r,this.options=o,this._$Cv=o?.isConnected??!0}get parentNode(){let n=this._$AA.parentNode,t=this._$AM;return t!==void 0&&n?.nodeType===11&&(n=t.parentNode),n}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(n,t=this){n=Ne(this,n,t),kt(n)?n===x||n==null||n===""?(this._$AH!==x&&this._$AR(),this._$AH=x):n!==this._$AH&&n!==F&&this._(n):n._$litType$!==void 0?this.$(n):n.nodeType!==void 0?this.T(n):no(n)?this.k(n):this._(n)}O(n){return this._$AA.parentNode.insertBefore(n,this._$AB)}T(n){this._$AH!==n&&(this._$AR(),this._$AH=this.O(n))}_(n){this._$AH!==x&&kt(this._$AH)?this._$AA.nextSibling.data=n:this.T(Re.createTextNode(n)),this._$AH=n}$(n){let{values:t,_$litType$:r}=n,o=typeof r=="number"?this._$AC(n):(r.el===void 0&&(r.el=At.createElement(oo(r.h,r.h[0]),this.options)),r);if(this._$AH?._$AD===o)this._$AH.p(t);else{let i=new Zt(o,this),a=i.u(this.options);i.p(t),this.T(a),this._$AH=i}}_$AC(n){let t=to.get(n.strings);return t===void 0&&to.set(n.strings,t=new At(n)),t}k(n){Zn(this._$AH)||(this._$AH=[],this._$AR());let t=this._$AH,r,o=0;for(let i of n)o===t.length?t.push(r=new e(this.O($t()),this.O($t()),this,this.options)):r=t[o],r._$AI(i),o++;o<t.length&&(this._$AR(r&&r._$AB.nextSibling,o),t.length=o)}_$AR(n=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);n!==this._$AB;){let r=Yr(n).nextSibling;Yr(n).remove(),n=r}}setConnected(n){this._$AM===void 0&&(this._$Cv=n,this._$AP?.(n))}},Oe=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(n,t,r,o,i){this.type=1,this._$AH=x,this._$AN=void 0,this.element=n,this.name=t,this._$AM=o,this.options=i,r.length>2||r[0]!==""||r[1]!==""?(this._$AH=Array(r.length-1).fill(new String),this.strings=r):this._$AH=x}_$AI(n,t=this,r,o){let i=this.strings,a=!1;if(i===void 0)n=Ne(this,n,t,0),a=!kt(n)||n!==this._$AH&&n!==F,a&&(this._$AH=n);else{let s=n,l,c;for(n=i[0],l=0;l<i.length-1;l++)c=Ne(this,s[r+l],t,l),c===F&&(c=this._$AH[l]),a||=!kt(c)||c!==this._$AH[l],c===x?n=x:n!==x&&(n+=(c??"")+i[l+1]),this._$AH[l]=c}a&&!o&&this.j(n)}j(n){n===x?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,n??"")}},en=class extends Oe{constructor(){super(...arguments),this.type=3}j(n){this.element[this.name]=n===x?void 0:n}},tn=class extends Oe{constructor(){super(...arguments),this.type=4}j(n){this.element.toggleAttribute(this.name,!!n&&n!==x)}},nn=class extends Oe{constructor(n,t,r,o,i){super(n,t,r,o,i),this.type=5}_$AI(n,t=this){if((n=Ne(this,n,t,0)??x)===F)return;let r=this._$AH,o=n===x&&r!==x||n.capture!==r.capture||n.once!==r.once||n.passive!==r.passive,i=n!==x&&(r===x||o);o&&this.element.removeEventListener(this.name,this,r),i&&this.element.addEventListener(this.name,this,n),this._$AH=n}handleEvent(n){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,n):this._$AH.handleEvent(n)}},rn=class{constructor(n,t,r){this.element=n,this.type=6,this._$AN=void 0,this._$AM=t,this.options=r}get _$AU(){return this._$AM._$AU}_$AI(n){Ne(this,n)}},ao={M:Qn,P:pe,A:Jn,C:1,L:io,R:Zt,D:no,V:Ne,I:et,H:Oe,N:tn,U:nn,B:en,F:rn},ws=Xn.litHtmlPolyfillSupport;ws?.(At,et),(Xn.litHtmlVersions??=[]).push("3.3.3");var so=(e,n,t)=>{let r=t?.renderBefore??n,o=r._$litPart$;if(o===void 0){let i=t?.renderBefore??null;r._$litPart$=o=new et(n.insertBefore($t(),i),i,void 0,t??{})}return o._$AI(e),o};var tr=globalThis,C=class extends me{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let n=super.createRenderRoot();return this.renderOptions.renderBefore??=n.firstChild,n}update(n){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(n),this._$Do=so(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return F}};C._$litElement$=!0,C.finalized=!0,tr.litElementHydrateSupport?.({LitElement:C});var vs=tr.litElementPolyfillSupport;vs?.({LitElement:C});(tr.litElementVersions??=[]).push("4.2.2");var q=e=>(n,t)=>{t!==void 0?t.addInitializer(()=>{customElements.define(e,n)}):customElements.define(e,n)};var xs={attribute:!0,type:String,converter:xt,reflect:!1,hasChanged:Qt},Ms=(e=xs,n,t)=>{let{kind:r,metadata:o}=t,i=globalThis.litPropertyMetadata.get(o);if(i===void 0&&globalThis.litPropertyMetadata.set(o,i=new Map),r==="setter"&&((e=Object.create(e)).wrapped=!0),i.set(t.name,e),r==="accessor"){let{name:a}=t;return{set(s){let l=n.get.call(this);n.set.call(this,s),this.requestUpdate(a,l,e,!0,s)},init(s){return s!==void 0&&this.C(a,void 0,e,s),s}}}if(r==="setter"){let{name:a}=t;return function(s){let l=this[a];n.call(this,s),this.requestUpdate(a,l,e,!0,s)}}throw Error("Unsupported decorator location: "+r)};function M(e){return(n,t)=>typeof t=="object"?Ms(e,n,t):((r,o,i)=>{let a=o.hasOwnProperty(i);return o.constructor.createProperty(i,r),a?Object.getOwnPropertyDescriptor(o,i):void 0})(e,n,t)}function O(e){return M({...e,state:!0,attribute:!1})}var De=(e,n,t)=>(t.configurable=!0,t.enumerable=!0,Reflect.decorate&&typeof n!="object"&&Object.defineProperty(e,n,t),t);function Y(e,n){return(t,r,o)=>{let i=a=>a.renderRoot?.querySelector(e)??null;if(n){let{get:a,set:s}=typeof r=="object"?t:o??(()=>{let l=Symbol();return{get(){return this[l]},set(c){this[l]=c}}})();return De(t,r,{get(){let l=a.call(this);return l===void 0&&(l=i(this),(l!==null||this.hasUpdated)&&s.call(this,l)),l}})}return De(t,r,{get(){return i(this)}})}}var Ie=["layer","entropy","distance","diagonality","first"];function lo(e){return Ie.includes(e)}function Tt(e,n){let t=e.map((i,a)=>a);if(n==="layer")return t.sort((i,a)=>e[i].layer-e[a].layer||e[i].head-e[a].head||i-a);let r=n==="entropy"?1:-1,o=i=>{let a=e[i].stats[n];return a==null||Number.isNaN(a)?1/0:r*a};return t.sort((i,a)=>{let[s,l]=[o(i),o(a)];return s===l?i-a:s<l?-1:1})}function nr(e){let n=e.map(({name:r})=>/^(.*) #(\d+)$/s.exec(r)),t=e.map(({name:r},o)=>(n[o]?.[1]??r).split("."));return t.map((r,o)=>{let{model:i}=e[o],a=t.filter((u,f)=>e[f].model===i),s=Number(n[o]?.[2]??1);if(new Set(a.map(u=>u.join("."))).size<2)return{model:i,own:r.join("."),call:s};let l=Math.min(...a.map(({length:u})=>u)),c=0;for(;c<l-1&&a.every(u=>u[c]===r[c]);)c+=1;let d=0;for(;d<l-1-c&&a.every(u=>u.at(-1-d)===r.at(-1-d));)d+=1;return{model:i,own:r.slice(c,r.length-d).join("."),call:s}})}function co(e,n){return nr(e).map(({model:t,own:r,call:o},i)=>{let a=e[i].label?.[n]??(r||String(i));return`${t} ${a}${o>1?` #${o}`:""}`.trim()})}function rr(e,n){return`${n[e.layer]??e.layer}\xB7${e.head}`}function uo({layers:e,maps:n},t){let r=[...new Set(e.map(({model:u})=>u))],{layer:o,head:i}=n[t],a=e[o]?.model??"",s=u=>e.flatMap((f,h)=>f.model===u?[h]:[]),l=r[(r.indexOf(a)+1)%r.length];if(l===void 0||l===a)return null;let c=s(l)[s(a).indexOf(o)],d=n.findIndex(u=>u.layer===c&&u.head===i);return d<0?null:d}function ee({rows:e,cols:n}){return{r0:0,r1:e,c0:0,c1:n}}function mo(e,{rows:n,cols:t}){return e.r0<=0&&e.c0<=0&&e.r1>=n&&e.c1>=t}function fo(e,n,t){let r=Math.min(t,Math.max(Math.min(3,t),n-e)),o=Math.min(Math.max(0,(e+n-r)/2),t-r);return[o,o+r]}function ye(e,n){let[t,r]=fo(e.r0,e.r1,n.rows),[o,i]=fo(e.c0,e.c1,n.cols);return{r0:t,r1:r,c0:o,c1:i}}function ho(e,n,t,r,o){let i=Math.min(t,Math.max(Math.min(3,t),(n-e)/r)),a=e+o*(n-e-i),s=Math.min(Math.max(0,a),t-i);return[s,s+i]}function on(e,n,t,r,o){let[i,a]=ho(e.r0,e.r1,n.rows,t,o),[s,l]=ho(e.c0,e.c1,n.cols,t,r);return{r0:i,r1:a,c0:s,c1:l}}function $s(e,n,t,r){let{r0:o,r1:i,c0:a,c1:s}=e;return ye({r0:o+t,r1:i+t,c0:a+r,c1:s+r},n)}function po(e,n,t,r){if(!(t>=0&&t<1&&r>=0&&r<1))return null;let o=Math.min(n.rows-1,Math.floor(e.r0+r*(e.r1-e.r0))),i=Math.min(n.cols-1,Math.floor(e.c0+t*(e.c1-e.c0)));return{row:o,col:i}}function St(e,n,{row:t,col:r}){let o=t<e.r0?t-e.r0:Math.max(0,t+1-e.r1),i=r<e.c0?r-e.c0:Math.max(0,r+1-e.c1);return o===0&&i===0?e:$s(e,n,o,i)}function bo({row:e,col:n},t,r){let o=r/2;return ye({r0:e+.5-o,r1:e+.5+o,c0:n+.5-o,c1:n+.5+o},t)}function or(e,n,t){if(n.rows===t.rows&&n.cols===t.cols)return e;let r=t.rows/n.rows,o=t.cols/n.cols;return ye({r0:e.r0*r,r1:e.r1*r,c0:e.c0*o,c1:e.c1*o},t)}function Et(e,{rows:n,cols:t}){return{r0:Math.max(0,Math.floor(e.r0)),r1:Math.min(n,Math.ceil(e.r1)),c0:Math.max(0,Math.floor(e.c0)),c1:Math.min(t,Math.ceil(e.c1))}}function K(e,n,t){return Math.floor(e*t/n)}function Ct(e,n,t){return Math.ceil(e*n/t)}function ir(e,n){let t=n/e;if(t<=1)return 1;let r=10**Math.floor(Math.log10(t));for(let o of[1,2,5,10])if(o*r>=t)return Math.max(1,Math.round(o*r));return r*10}var an={map:0,other:null,window:null,cursor:null,pinned:null,colouring:"linear",reduce:"mass",sort:"layer",language:null};function sn(e,n){if(e===null||!/^\d{1,9}$/.test(e))return null;let t=Number(e);return t<n?t:null}function go(e,n){let[t,r,...o]=(e??"").split(","),i=sn(t??null,n.rows),a=sn(r??null,n.cols);return i===null||a===null||o.length>0?null:{row:i,col:a}}function ks(e,n){let t=(e??"").split(",");if(t.length!==4||!t.every(l=>/^\d{1,9}(\.\d{1,4})?$/.test(l)))return null;let[r,o,i,a]=t.map(Number);if(!(r<o&&i<a))return null;let s=ye({r0:r,r1:o,c0:i,c1:a},n);return mo(s,n)?null:s}function yo(e,n){let t;try{t=new URLSearchParams(e.replace(/^#/,""))}catch{return an}let r=sn(t.get("map"),n.length)??0,o=n[r];if(!o)return an;let i=t.get("sort"),a=t.get("lang");return{map:r,other:sn(t.get("with"),n.length),window:ks(t.get("zoom"),o),cursor:go(t.get("at"),o),pinned:go(t.get("pin"),o),colouring:t.get("colour")==="log"?"log":"linear",reduce:t.get("pool")==="max"?"max":"mass",sort:lo(i)?i:"layer",language:a==="en"||a==="zh"?a:null}}var As=e=>String(Number(e.toFixed(2)));function Ts(e){let n=[];if(e.map!==0&&n.push(`map=${e.map}`),e.other!==null&&n.push(`with=${e.other}`),e.window){let{r0:t,r1:r,c0:o,c1:i}=e.window;n.push(`zoom=${[t,r,o,i].map(As).join(",")}`)}return e.cursor&&n.push(`at=${e.cursor.row},${e.cursor.col}`),e.pinned&&n.push(`pin=${e.pinned.row},${e.pinned.col}`),e.colouring!=="linear"&&n.push(`colour=${e.colouring}`),e.reduce!=="mass"&&n.push(`pool=${e.reduce}`),e.sort!=="layer"&&n.push(`sort=${e.sort}`),e.language&&n.push(`lang=${e.language}`),n.join("&")}var Ss=250,ln=class{constructor(n){this.arrived=n;this.written=null;this.changed=()=>{location.hash.replace(/^#/,"")!==this.written&&this.arrived(location.hash)}}listen(){globalThis.addEventListener("hashchange",this.changed)}stop(){globalThis.removeEventListener("hashchange",this.changed),clearTimeout(this.timer)}write(n){let t=Ts(n);t!==this.written&&(clearTimeout(this.timer),this.timer=setTimeout(()=>{this.written=t;try{history.replaceState(history.state,"",`#${t}`)}catch{}},Ss))}};var wo=z`
  :host {
    display: flex;
    flex-direction: column;
    gap: 10px;
    padding: 12px 16px;
    min-height: 100vh;
  }
  header {
    display: flex;
    flex-wrap: wrap;
    gap: 6px 16px;
    align-items: baseline;
  }
  h1 {
    font-size: 19px;
    flex: 1 1 auto;
    overflow-wrap: anywhere;
  }
  header .tools {
    display: flex;
    gap: 8px;
    align-items: center;
  }
  .notes {
    margin: 0;
    padding: 7px 12px;
    border-radius: 8px;
    background: var(--warn-ground);
    color: var(--warn);
    list-style: none;
    font-size: 13px;
  }
  .panel {
    background: var(--panel);
    border: 1px solid var(--line);
    border-radius: 12px;
    box-shadow: var(--shadow);
    padding: 12px 14px;
    min-width: 0;
  }
  main {
    display: grid;
    gap: 12px;
    grid-template-columns: minmax(0, 1fr);
    flex: 1 1 auto;
    min-height: 0;
  }
  regard-heads {
    max-height: 230px;
  }
  .view {
    display: flex;
    flex-direction: column;
    gap: 8px;
    min-height: 0;
  }
  .title {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 14px;
    align-items: baseline;
  }
  .title h2 {
    font-size: 16px;
  }
  .stats {
    display: flex;
    flex-wrap: wrap;
    gap: 2px 14px;
    margin: 0;
    color: var(--muted);
    font-size: 13px;
  }
  .stats div {
    display: flex;
    gap: 5px;
  }
  .stats dd {
    margin: 0;
    color: var(--ink);
    font-variant-numeric: tabular-nums;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    gap: 6px 14px;
    align-items: center;
    font-size: 13px;
  }
  .bar label, .group {
    display: flex;
    gap: 6px;
    align-items: center;
    color: var(--muted);
    min-width: 0;
  }
  .bar select {
    max-width: 21rem;
    min-width: 0;
    color: var(--ink);
  }
  .both {
    display: flex;
  }
  .both button:first-child {
    border-radius: 7px 0 0 7px;
  }
  .both button:last-child {
    border-radius: 0 7px 7px 0;
    border-left: 0;
  }
  .both button:not(:first-child):not(:last-child) {
    border-radius: 0;
    border-left: 0;
  }
  .bar button {
    color: var(--ink);
  }
  .bar button[aria-pressed="true"] {
    color: var(--accent-ink);
  }
  .maps {
    display: grid;
    gap: 10px;
    flex: 1 1 auto;
    min-height: 0;
  }
  .maps figure {
    margin: 0;
    display: flex;
    flex-direction: column;
    gap: 4px;
    min-width: 0;
    min-height: 0;
  }
  figcaption {
    font-size: 13px;
    color: var(--muted);
  }
  figcaption b {
    color: var(--ink);
  }
  regard-heatmap {
    height: min(96vw, 74vh);
    min-height: 320px;
  }
  /* As high, whatever is said: the map must not jump while the pointer moves. */
  .said, .one {
    flex: none;
    height: 1.6em;
    margin: 0;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .one {
    white-space: nowrap;
  }
  .said {
    font-size: 15px;
    line-height: 1.35;
    height: 2.7em;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
  .small {
    margin: 0;
    font-size: 13px;
    color: var(--muted);
  }
  @media (min-width: 860px) {
    main {
      grid-template-columns: minmax(210px, 30%) minmax(0, 1fr);
      grid-template-rows: auto auto;
    }
    main.alone {
      grid-template-columns: minmax(0, 1fr);
    }
    regard-heads {
      grid-row: 1 / span 2;
      max-height: calc(100vh - 90px);
      position: sticky;
      top: 12px;
    }
    regard-heatmap {
      height: min(58vw, 72vh);
    }
    :host([comparing]) .maps {
      grid-template-columns: repeat(2, minmax(0, 1fr));
    }
    :host([comparing]) regard-heatmap {
      height: 36vw;
    }
  }
  @media (min-width: 1180px) {
    :host(:not([comparing])) {
      height: 100vh;
      min-height: 620px;
    }
    main {
      grid-template-columns: minmax(250px, 9fr) minmax(0, 20fr) minmax(260px, 9fr);
      grid-template-rows: minmax(0, 1fr);
    }
    main.alone {
      grid-template-columns: minmax(0, 20fr) minmax(270px, 9fr);
    }
    :host(:not([comparing])) regard-heads {
      grid-row: 1;
      max-height: none;
      position: static;
    }
    :host(:not([comparing])) regard-heatmap {
      height: auto;
      min-height: 0;
      flex: 1 1 auto;
    }
    :host(:not([comparing])) .side {
      overflow: auto;
    }
    :host([comparing]) main {
      grid-template-columns: minmax(200px, 2fr) minmax(0, 10fr);
      grid-template-rows: auto auto;
    }
    :host([comparing]) main.alone {
      grid-template-columns: minmax(0, 1fr);
    }
    :host([comparing]) .maps {
      grid-template-columns: repeat(3, minmax(0, 1fr));
    }
    :host([comparing]) .maps.two {
      grid-template-columns: repeat(2, minmax(0, 1fr));
    }
    :host([comparing]) regard-heatmap {
      height: clamp(320px, 29vw, 66vh);
    }
  }
  .side {
    display: flex;
    flex-direction: column;
    gap: 12px;
  }
`;var cn={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},tt=e=>(...n)=>({_$litDirective$:e,values:n}),we=class{constructor(n){}get _$AU(){return this._$AM._$AU}_$AT(n,t,r){this._$Ct=n,this._$AM=t,this._$Ci=r}_$AS(n,t){return this.update(n,t)}update(n,t){return this.render(...t)}};var Es={},nt=tt(class extends we{constructor(){super(...arguments),this.ot=Es}render(e,n){return n()}update(e,[n,t]){if(Array.isArray(n)){if(Array.isArray(this.ot)&&this.ot.length===n.length&&n.every((r,o)=>r===this.ot[o]))return F}else if(this.ot===n)return F;return this.ot=Array.isArray(n)?Array.from(n):n,this.render(n,t)}});var{I:Cs}=ao,vo=e=>e;var xo=()=>document.createComment(""),rt=(e,n,t)=>{let r=e._$AA.parentNode,o=n===void 0?e._$AB:n._$AA;if(t===void 0){let i=r.insertBefore(xo(),o),a=r.insertBefore(xo(),o);t=new Cs(i,a,e,e.options)}else{let i=t._$AB.nextSibling,a=t._$AM,s=a!==e;if(s){let l;t._$AQ?.(e),t._$AM=e,t._$AP!==void 0&&(l=e._$AU)!==a._$AU&&t._$AP(l)}if(i!==o||s){let l=t._$AA;for(;l!==i;){let c=vo(l).nextSibling;vo(r).insertBefore(l,o),l=c}}}return t},ve=(e,n,t=e)=>(e._$AI(n,t),e),Ls={},Mo=(e,n=Ls)=>e._$AH=n,$o=e=>e._$AH,un=e=>{e._$AR(),e._$AA.remove()};var ko=(e,n,t)=>{let r=new Map;for(let o=n;o<=t;o++)r.set(e[o],o);return r},Ao=tt(class extends we{constructor(e){if(super(e),e.type!==cn.CHILD)throw Error("repeat() can only be used in text expressions")}dt(e,n,t){let r;t===void 0?t=n:n!==void 0&&(r=n);let o=[],i=[],a=0;for(let s of e)o[a]=r?r(s,a):a,i[a]=t(s,a),a++;return{values:i,keys:o}}render(e,n,t){return this.dt(e,n,t).values}update(e,[n,t,r]){let o=$o(e),{values:i,keys:a}=this.dt(n,t,r);if(!Array.isArray(o))return this.ut=a,i;let s=this.ut??=[],l=[],c,d,u=0,f=o.length-1,h=0,p=i.length-1;for(;u<=f&&h<=p;)if(o[u]===null)u++;else if(o[f]===null)f--;else if(s[u]===a[h])l[h]=ve(o[u],i[h]),u++,h++;else if(s[f]===a[p])l[p]=ve(o[f],i[p]),f--,p--;else if(s[u]===a[p])l[p]=ve(o[u],i[p]),rt(e,l[p+1],o[u]),u++,p--;else if(s[f]===a[h])l[h]=ve(o[f],i[h]),rt(e,o[u],o[f]),f--,h++;else if(c===void 0&&(c=ko(a,h,p),d=ko(s,u,f)),c.has(s[u]))if(c.has(s[f])){let b=d.get(a[h]),m=b!==void 0?o[b]:null;if(m===null){let w=rt(e,o[u]);ve(w,i[h]),l[h]=w}else l[h]=ve(m,i[h]),rt(e,o[u],m),o[b]=null;h++}else un(o[f]),f--;else un(o[u]),u++;for(;h<=p;){let b=rt(e,l[p+1]);ve(b,i[h]),l[h++]=b}for(;u<=f;){let b=o[u++];b!==null&&un(b)}return this.ut=a,Mo(e,l),F}});function st(e,n,t){e.prototype=n.prototype=t,t.constructor=e}function Pt(e,n){var t=Object.create(e.prototype);for(var r in n)t[r]=n[r];return t}function xe(){}var Fe=.7,at=1/Fe,ot="\\s*([+-]?\\d+)\\s*",Lt="\\s*([+-]?(?:\\d*\\.)?\\d+(?:[eE][+-]?\\d+)?)\\s*",ie="\\s*([+-]?(?:\\d*\\.)?\\d+(?:[eE][+-]?\\d+)?)%\\s*",_s=/^#([0-9a-f]{3,8})$/,Ps=new RegExp(`^rgb\\(${ot},${ot},${ot}\\)$`),zs=new RegExp(`^rgb\\(${ie},${ie},${ie}\\)$`),Rs=new RegExp(`^rgba\\(${ot},${ot},${ot},${Lt}\\)$`),Ns=new RegExp(`^rgba\\(${ie},${ie},${ie},${Lt}\\)$`),Os=new RegExp(`^hsl\\(${Lt},${ie},${ie}\\)$`),Ds=new RegExp(`^hsla\\(${Lt},${ie},${ie},${Lt}\\)$`),To={aliceblue:15792383,antiquewhite:16444375,aqua:65535,aquamarine:8388564,azure:15794175,beige:16119260,bisque:16770244,black:0,blanchedalmond:16772045,blue:255,blueviolet:9055202,brown:10824234,burlywood:14596231,cadetblue:6266528,chartreuse:8388352,chocolate:13789470,coral:16744272,cornflowerblue:6591981,cornsilk:16775388,crimson:14423100,cyan:65535,darkblue:139,darkcyan:35723,darkgoldenrod:12092939,darkgray:11119017,darkgreen:25600,darkgrey:11119017,darkkhaki:12433259,darkmagenta:9109643,darkolivegreen:5597999,darkorange:16747520,darkorchid:10040012,darkred:9109504,darksalmon:15308410,darkseagreen:9419919,darkslateblue:4734347,darkslategray:3100495,darkslategrey:3100495,darkturquoise:52945,darkviolet:9699539,deeppink:16716947,deepskyblue:49151,dimgray:6908265,dimgrey:6908265,dodgerblue:2003199,firebrick:11674146,floralwhite:16775920,forestgreen:2263842,fuchsia:16711935,gainsboro:14474460,ghostwhite:16316671,gold:16766720,goldenrod:14329120,gray:8421504,green:32768,greenyellow:11403055,grey:8421504,honeydew:15794160,hotpink:16738740,indianred:13458524,indigo:4915330,ivory:16777200,khaki:15787660,lavender:15132410,lavenderblush:16773365,lawngreen:8190976,lemonchiffon:16775885,lightblue:11393254,lightcoral:15761536,lightcyan:14745599,lightgoldenrodyellow:16448210,lightgray:13882323,lightgreen:9498256,lightgrey:13882323,lightpink:16758465,lightsalmon:16752762,lightseagreen:2142890,lightskyblue:8900346,lightslategray:7833753,lightslategrey:7833753,lightsteelblue:11584734,lightyellow:16777184,lime:65280,limegreen:3329330,linen:16445670,magenta:16711935,maroon:8388608,mediumaquamarine:6737322,mediumblue:205,mediumorchid:12211667,mediumpurple:9662683,mediumseagreen:3978097,mediumslateblue:8087790,mediumspringgreen:64154,mediumturquoise:4772300,mediumvioletred:13047173,midnightblue:1644912,mintcream:16121850,mistyrose:16770273,moccasin:16770229,navajowhite:16768685,navy:128,oldlace:16643558,olive:8421376,olivedrab:7048739,orange:16753920,orangered:16729344,orchid:14315734,palegoldenrod:15657130,palegreen:10025880,paleturquoise:11529966,palevioletred:14381203,papayawhip:16773077,peachpuff:16767673,peru:13468991,pink:16761035,plum:14524637,powderblue:11591910,purple:8388736,rebeccapurple:6697881,red:16711680,rosybrown:12357519,royalblue:4286945,saddlebrown:9127187,salmon:16416882,sandybrown:16032864,seagreen:3050327,seashell:16774638,sienna:10506797,silver:12632256,skyblue:8900331,slateblue:6970061,slategray:7372944,slategrey:7372944,snow:16775930,springgreen:65407,steelblue:4620980,tan:13808780,teal:32896,thistle:14204888,tomato:16737095,turquoise:4251856,violet:15631086,wheat:16113331,white:16777215,whitesmoke:16119285,yellow:16776960,yellowgreen:10145074};st(xe,lt,{copy(e){return Object.assign(new this.constructor,this,e)},displayable(){return this.rgb().displayable()},hex:So,formatHex:So,formatHex8:Is,formatHsl:Bs,formatRgb:Eo,toString:Eo});function So(){return this.rgb().formatHex()}function Is(){return this.rgb().formatHex8()}function Bs(){return Do(this).formatHsl()}function Eo(){return this.rgb().formatRgb()}function lt(e){var n,t;return e=(e+"").trim().toLowerCase(),(n=_s.exec(e))?(t=n[1].length,n=parseInt(n[1],16),t===6?Co(n):t===3?new N(n>>8&15|n>>4&240,n>>4&15|n&240,(n&15)<<4|n&15,1):t===8?dn(n>>24&255,n>>16&255,n>>8&255,(n&255)/255):t===4?dn(n>>12&15|n>>8&240,n>>8&15|n>>4&240,n>>4&15|n&240,((n&15)<<4|n&15)/255):null):(n=Ps.exec(e))?new N(n[1],n[2],n[3],1):(n=zs.exec(e))?new N(n[1]*255/100,n[2]*255/100,n[3]*255/100,1):(n=Rs.exec(e))?dn(n[1],n[2],n[3],n[4]):(n=Ns.exec(e))?dn(n[1]*255/100,n[2]*255/100,n[3]*255/100,n[4]):(n=Os.exec(e))?Po(n[1],n[2]/100,n[3]/100,1):(n=Ds.exec(e))?Po(n[1],n[2]/100,n[3]/100,n[4]):To.hasOwnProperty(e)?Co(To[e]):e==="transparent"?new N(NaN,NaN,NaN,0):null}function Co(e){return new N(e>>16&255,e>>8&255,e&255,1)}function dn(e,n,t,r){return r<=0&&(e=n=t=NaN),new N(e,n,t,r)}function dr(e){return e instanceof xe||(e=lt(e)),e?(e=e.rgb(),new N(e.r,e.g,e.b,e.opacity)):new N}function He(e,n,t,r){return arguments.length===1?dr(e):new N(e,n,t,r??1)}function N(e,n,t,r){this.r=+e,this.g=+n,this.b=+t,this.opacity=+r}st(N,He,Pt(xe,{brighter(e){return e=e==null?at:Math.pow(at,e),new N(this.r*e,this.g*e,this.b*e,this.opacity)},darker(e){return e=e==null?Fe:Math.pow(Fe,e),new N(this.r*e,this.g*e,this.b*e,this.opacity)},rgb(){return this},clamp(){return new N(qe(this.r),qe(this.g),qe(this.b),hn(this.opacity))},displayable(){return-.5<=this.r&&this.r<255.5&&-.5<=this.g&&this.g<255.5&&-.5<=this.b&&this.b<255.5&&0<=this.opacity&&this.opacity<=1},hex:Lo,formatHex:Lo,formatHex8:qs,formatRgb:_o,toString:_o}));function Lo(){return`#${Be(this.r)}${Be(this.g)}${Be(this.b)}`}function qs(){return`#${Be(this.r)}${Be(this.g)}${Be(this.b)}${Be((isNaN(this.opacity)?1:this.opacity)*255)}`}function _o(){let e=hn(this.opacity);return`${e===1?"rgb(":"rgba("}${qe(this.r)}, ${qe(this.g)}, ${qe(this.b)}${e===1?")":`, ${e})`}`}function hn(e){return isNaN(e)?1:Math.max(0,Math.min(1,e))}function qe(e){return Math.max(0,Math.min(255,Math.round(e)||0))}function Be(e){return e=qe(e),(e<16?"0":"")+e.toString(16)}function Po(e,n,t,r){return r<=0?e=n=t=NaN:t<=0||t>=1?e=n=NaN:n<=0&&(e=NaN),new te(e,n,t,r)}function Do(e){if(e instanceof te)return new te(e.h,e.s,e.l,e.opacity);if(e instanceof xe||(e=lt(e)),!e)return new te;if(e instanceof te)return e;e=e.rgb();var n=e.r/255,t=e.g/255,r=e.b/255,o=Math.min(n,t,r),i=Math.max(n,t,r),a=NaN,s=i-o,l=(i+o)/2;return s?(n===i?a=(t-r)/s+(t<r)*6:t===i?a=(r-n)/s+2:a=(n-t)/s+4,s/=l<.5?i+o:2-i-o,a*=60):s=l>0&&l<1?0:a,new te(a,s,l,e.opacity)}function pn(e,n,t,r){return arguments.length===1?Do(e):new te(e,n,t,r??1)}function te(e,n,t,r){this.h=+e,this.s=+n,this.l=+t,this.opacity=+r}st(te,pn,Pt(xe,{brighter(e){return e=e==null?at:Math.pow(at,e),new te(this.h,this.s,this.l*e,this.opacity)},darker(e){return e=e==null?Fe:Math.pow(Fe,e),new te(this.h,this.s,this.l*e,this.opacity)},rgb(){var e=this.h%360+(this.h<0)*360,n=isNaN(e)||isNaN(this.s)?0:this.s,t=this.l,r=t+(t<.5?t:1-t)*n,o=2*t-r;return new N(ar(e>=240?e-240:e+120,o,r),ar(e,o,r),ar(e<120?e+240:e-120,o,r),this.opacity)},clamp(){return new te(zo(this.h),fn(this.s),fn(this.l),hn(this.opacity))},displayable(){return(0<=this.s&&this.s<=1||isNaN(this.s))&&0<=this.l&&this.l<=1&&0<=this.opacity&&this.opacity<=1},formatHsl(){let e=hn(this.opacity);return`${e===1?"hsl(":"hsla("}${zo(this.h)}, ${fn(this.s)*100}%, ${fn(this.l)*100}%${e===1?")":`, ${e})`}`}}));function zo(e){return e=(e||0)%360,e<0?e+360:e}function fn(e){return Math.max(0,Math.min(1,e||0))}function ar(e,n,t){return(e<60?n+(t-n)*e/60:e<180?t:e<240?n+(t-n)*(240-e)/60:n)*255}var Io=Math.PI/180,Bo=180/Math.PI,mn=18,qo=.96422,Wo=1,Fo=.82521,Ho=4/29,it=6/29,Uo=3*it*it,Ws=it*it*it;function Vo(e){if(e instanceof ae)return new ae(e.l,e.a,e.b,e.opacity);if(e instanceof be)return jo(e);e instanceof N||(e=dr(e));var n=ur(e.r),t=ur(e.g),r=ur(e.b),o=sr((.2225045*n+.7168786*t+.0606169*r)/Wo),i,a;return n===t&&t===r?i=a=o:(i=sr((.4360747*n+.3850649*t+.1430804*r)/qo),a=sr((.0139322*n+.0971045*t+.7141733*r)/Fo)),new ae(116*o-16,500*(i-o),200*(o-a),e.opacity)}function Ko(e,n,t,r){return arguments.length===1?Vo(e):new ae(e,n,t,r??1)}function ae(e,n,t,r){this.l=+e,this.a=+n,this.b=+t,this.opacity=+r}st(ae,Ko,Pt(xe,{brighter(e){return new ae(this.l+mn*(e??1),this.a,this.b,this.opacity)},darker(e){return new ae(this.l-mn*(e??1),this.a,this.b,this.opacity)},rgb(){var e=(this.l+16)/116,n=isNaN(this.a)?e:e+this.a/500,t=isNaN(this.b)?e:e-this.b/200;return n=qo*lr(n),e=Wo*lr(e),t=Fo*lr(t),new N(cr(3.1338561*n-1.6168667*e-.4906146*t),cr(-.9787684*n+1.9161415*e+.033454*t),cr(.0719453*n-.2289914*e+1.4052427*t),this.opacity)}}));function sr(e){return e>Ws?Math.pow(e,1/3):e/Uo+Ho}function lr(e){return e>it?e*e*e:Uo*(e-Ho)}function cr(e){return 255*(e<=.0031308?12.92*e:1.055*Math.pow(e,1/2.4)-.055)}function ur(e){return(e/=255)<=.04045?e/12.92:Math.pow((e+.055)/1.055,2.4)}function Fs(e){if(e instanceof be)return new be(e.h,e.c,e.l,e.opacity);if(e instanceof ae||(e=Vo(e)),e.a===0&&e.b===0)return new be(NaN,0<e.l&&e.l<100?0:NaN,e.l,e.opacity);var n=Math.atan2(e.b,e.a)*Bo;return new be(n<0?n+360:n,Math.sqrt(e.a*e.a+e.b*e.b),e.l,e.opacity)}function bn(e,n,t,r){return arguments.length===1?Fs(e):new be(e,n,t,r??1)}function be(e,n,t,r){this.h=+e,this.c=+n,this.l=+t,this.opacity=+r}function jo(e){if(isNaN(e.h))return new ae(e.l,0,0,e.opacity);var n=e.h*Io;return new ae(e.l,Math.cos(n)*e.c,Math.sin(n)*e.c,e.opacity)}st(be,bn,Pt(xe,{brighter(e){return new be(this.h,this.c,this.l+mn*(e??1),this.opacity)},darker(e){return new be(this.h,this.c,this.l-mn*(e??1),this.opacity)},rgb(){return jo(this).rgb()}}));var Go=-.14861,fr=1.78277,hr=-.29227,gn=-.90649,_t=1.97294,Ro=_t*gn,No=_t*fr,Oo=fr*hr-gn*Go;function Hs(e){if(e instanceof We)return new We(e.h,e.s,e.l,e.opacity);e instanceof N||(e=dr(e));var n=e.r/255,t=e.g/255,r=e.b/255,o=(Oo*r+Ro*n-No*t)/(Oo+Ro-No),i=r-o,a=(_t*(t-o)-hr*i)/gn,s=Math.sqrt(a*a+i*i)/(_t*o*(1-o)),l=s?Math.atan2(a,i)*Bo-120:NaN;return new We(l<0?l+360:l,s,o,e.opacity)}function X(e,n,t,r){return arguments.length===1?Hs(e):new We(e,n,t,r??1)}function We(e,n,t,r){this.h=+e,this.s=+n,this.l=+t,this.opacity=+r}st(We,X,Pt(xe,{brighter(e){return e=e==null?at:Math.pow(at,e),new We(this.h,this.s,this.l*e,this.opacity)},darker(e){return e=e==null?Fe:Math.pow(Fe,e),new We(this.h,this.s,this.l*e,this.opacity)},rgb(){var e=isNaN(this.h)?0:(this.h+120)*Io,n=+this.l,t=isNaN(this.s)?0:this.s*n*(1-n),r=Math.cos(e),o=Math.sin(e);return new N(255*(n+t*(Go*r+fr*o)),255*(n+t*(hr*r+gn*o)),255*(n+t*(_t*r)),this.opacity)}}));function Jo(e,n,t,r,o){var i=e*e,a=i*e;return((1-3*e+3*i-a)*n+(4-6*i+3*a)*t+(1+3*e+3*i-3*a)*r+a*o)/6}function Us(e){var n=e.length-1;return function(t){var r=t<=0?t=0:t>=1?(t=1,n-1):Math.floor(t*n),o=e[r],i=e[r+1],a=r>0?e[r-1]:2*o-i,s=r<n-1?e[r+2]:2*i-o;return Jo((t-r/n)*n,a,o,i,s)}}function Vs(e){var n=e.length;return function(t){var r=Math.floor(((t%=1)<0?++t:t)*n),o=e[(r+n-1)%n],i=e[r%n],a=e[(r+1)%n],s=e[(r+2)%n];return Jo((t-r/n)*n,o,i,a,s)}}var wn=e=>()=>e;function Zo(e,n){return function(t){return e+t*n}}function Ks(e,n,t){return e=Math.pow(e,t),n=Math.pow(n,t)-e,t=1/t,function(r){return Math.pow(e+r*n,t)}}function gr(e,n){var t=n-e;return t?Zo(e,t>180||t<-180?t-360*Math.round(t/360):t):wn(isNaN(e)?n:e)}function js(e){return(e=+e)==1?V:function(n,t){return t-n?Ks(n,t,e):wn(isNaN(n)?t:n)}}function V(e,n){var t=n-e;return t?Zo(e,t):wn(isNaN(e)?n:e)}var Yo=(function e(n){var t=js(n);function r(o,i){var a=t((o=He(o)).r,(i=He(i)).r),s=t(o.g,i.g),l=t(o.b,i.b),c=V(o.opacity,i.opacity);return function(d){return o.r=a(d),o.g=s(d),o.b=l(d),o.opacity=c(d),o+""}}return r.gamma=e,r})(1);function ei(e){return function(n){var t=n.length,r=new Array(t),o=new Array(t),i=new Array(t),a,s;for(a=0;a<t;++a)s=He(n[a]),r[a]=s.r||0,o[a]=s.g||0,i[a]=s.b||0;return r=e(r),o=e(o),i=e(i),s.opacity=1,function(l){return s.r=r(l),s.g=o(l),s.b=i(l),s+""}}}var ti=ei(Us),Dd=ei(Vs);function Gs(e,n){n||(n=[]);var t=e?Math.min(n.length,e.length):0,r=n.slice(),o;return function(i){for(o=0;o<t;++o)r[o]=e[o]*(1-i)+n[o]*i;return r}}function Ys(e){return ArrayBuffer.isView(e)&&!(e instanceof DataView)}function Xs(e,n){var t=n?n.length:0,r=e?Math.min(t,e.length):0,o=new Array(r),i=new Array(t),a;for(a=0;a<r;++a)o[a]=vn(e[a],n[a]);for(;a<t;++a)i[a]=n[a];return function(s){for(a=0;a<r;++a)i[a]=o[a](s);return i}}function Qs(e,n){var t=new Date;return e=+e,n=+n,function(r){return t.setTime(e*(1-r)+n*r),t}}function ne(e,n){return e=+e,n=+n,function(t){return e*(1-t)+n*t}}function Js(e,n){var t={},r={},o;(e===null||typeof e!="object")&&(e={}),(n===null||typeof n!="object")&&(n={});for(o in n)o in e?t[o]=vn(e[o],n[o]):r[o]=n[o];return function(i){for(o in t)r[o]=t[o](i);return r}}var pr=/[-+]?(?:\d+\.?\d*|\.?\d+)(?:[eE][-+]?\d+)?/g,mr=new RegExp(pr.source,"g");function Zs(e){return function(){return e}}function el(e){return function(n){return e(n)+""}}function tl(e,n){var t=pr.lastIndex=mr.lastIndex=0,r,o,i,a=-1,s=[],l=[];for(e=e+"",n=n+"";(r=pr.exec(e))&&(o=mr.exec(n));)(i=o.index)>t&&(i=n.slice(t,i),s[a]?s[a]+=i:s[++a]=i),(r=r[0])===(o=o[0])?s[a]?s[a]+=o:s[++a]=o:(s[++a]=null,l.push({i:a,x:ne(r,o)})),t=mr.lastIndex;return t<n.length&&(i=n.slice(t),s[a]?s[a]+=i:s[++a]=i),s.length<2?l[0]?el(l[0].x):Zs(n):(n=l.length,function(c){for(var d=0,u;d<n;++d)s[(u=l[d]).i]=u.x(c);return s.join("")})}function vn(e,n){var t=typeof n,r;return n==null||t==="boolean"?wn(n):(t==="number"?ne:t==="string"?(r=lt(n))?(n=r,Yo):tl:n instanceof lt?Yo:n instanceof Date?Qs:Ys(n)?Gs:Array.isArray(n)?Xs:typeof n.valueOf!="function"&&typeof n.toString!="function"||isNaN(n)?Js:ne)(e,n)}function ni(e,n){return e=+e,n=+n,function(t){return Math.round(e*(1-t)+n*t)}}var Xo=180/Math.PI,br={translateX:0,translateY:0,rotate:0,skewX:0,scaleX:1,scaleY:1};function ri(e,n,t,r,o,i){var a,s,l;return(a=Math.sqrt(e*e+n*n))&&(e/=a,n/=a),(l=e*t+n*r)&&(t-=e*l,r-=n*l),(s=Math.sqrt(t*t+r*r))&&(t/=s,r/=s,l/=s),e*r<n*t&&(e=-e,n=-n,l=-l,a=-a),{translateX:o,translateY:i,rotate:Math.atan2(n,e)*Xo,skewX:Math.atan(l)*Xo,scaleX:a,scaleY:s}}var yn;function nl(e){let n=new(typeof DOMMatrix=="function"?DOMMatrix:WebKitCSSMatrix)(e+"");return n.isIdentity?br:ri(n.a,n.b,n.c,n.d,n.e,n.f)}function rl(e){return e==null||(yn||(yn=document.createElementNS("http://www.w3.org/2000/svg","g")),yn.setAttribute("transform",e),!(e=yn.transform.baseVal.consolidate()))?br:(e=e.matrix,ri(e.a,e.b,e.c,e.d,e.e,e.f))}function oi(e,n,t,r){function o(c){return c.length?c.pop()+" ":""}function i(c,d,u,f,h,p){if(c!==u||d!==f){var b=h.push("translate(",null,n,null,t);p.push({i:b-4,x:ne(c,u)},{i:b-2,x:ne(d,f)})}else(u||f)&&h.push("translate("+u+n+f+t)}function a(c,d,u,f){c!==d?(c-d>180?d+=360:d-c>180&&(c+=360),f.push({i:u.push(o(u)+"rotate(",null,r)-2,x:ne(c,d)})):d&&u.push(o(u)+"rotate("+d+r)}function s(c,d,u,f){c!==d?f.push({i:u.push(o(u)+"skewX(",null,r)-2,x:ne(c,d)}):d&&u.push(o(u)+"skewX("+d+r)}function l(c,d,u,f,h,p){if(c!==u||d!==f){var b=h.push(o(h)+"scale(",null,",",null,")");p.push({i:b-4,x:ne(c,u)},{i:b-2,x:ne(d,f)})}else(u!==1||f!==1)&&h.push(o(h)+"scale("+u+","+f+")")}return function(c,d){var u=[],f=[];return c=e(c),d=e(d),i(c.translateX,c.translateY,d.translateX,d.translateY,u,f),a(c.rotate,d.rotate,u,f),s(c.skewX,d.skewX,u,f),l(c.scaleX,c.scaleY,d.scaleX,d.scaleY,u,f),c=d=null,function(h){for(var p=-1,b=f.length,m;++p<b;)u[(m=f[p]).i]=m.x(h);return u.join("")}}}var Id=oi(nl,"px, ","px)","deg)"),Bd=oi(rl,", ",")",")"),ol=1e-12;function Qo(e){return((e=Math.exp(e))+1/e)/2}function il(e){return((e=Math.exp(e))-1/e)/2}function al(e){return((e=Math.exp(2*e))-1)/(e+1)}var qd=(function e(n,t,r){function o(i,a){var s=i[0],l=i[1],c=i[2],d=a[0],u=a[1],f=a[2],h=d-s,p=u-l,b=h*h+p*p,m,w;if(b<ol)w=Math.log(f/c)/n,m=function(Z){return[s+Z*h,l+Z*p,c*Math.exp(n*Z*w)]};else{var $=Math.sqrt(b),S=(f*f-c*c+r*b)/(2*c*t*$),E=(f*f-c*c-r*b)/(2*f*t*$),B=Math.log(Math.sqrt(S*S+1)-S),P=Math.log(Math.sqrt(E*E+1)-E);w=(P-B)/n,m=function(Z){var Ht=Z*w,yt=Qo(B),Ut=c/(t*$)*(yt*al(n*Ht+B)-il(B));return[s+Ut*h,l+Ut*p,c*yt/Qo(n*Ht+B)]}}return m.duration=Math.abs(w)*1e3*n/Math.SQRT2,m}return o.rho=function(i){var a=Math.max(.001,+i),s=a*a,l=s*s;return e(a,s,l)},o})(Math.SQRT2,2,4);function ii(e){return function(n,t){var r=e((n=pn(n)).h,(t=pn(t)).h),o=V(n.s,t.s),i=V(n.l,t.l),a=V(n.opacity,t.opacity);return function(s){return n.h=r(s),n.s=o(s),n.l=i(s),n.opacity=a(s),n+""}}}var Wd=ii(gr),Fd=ii(V);function ai(e){return function(n,t){var r=e((n=bn(n)).h,(t=bn(t)).h),o=V(n.c,t.c),i=V(n.l,t.l),a=V(n.opacity,t.opacity);return function(s){return n.h=r(s),n.c=o(s),n.l=i(s),n.opacity=a(s),n+""}}}var Hd=ai(gr),Ud=ai(V);function si(e){return(function n(t){t=+t;function r(o,i){var a=e((o=X(o)).h,(i=X(i)).h),s=V(o.s,i.s),l=V(o.l,i.l),c=V(o.opacity,i.opacity);return function(d){return o.h=a(d),o.s=s(d),o.l=l(Math.pow(d,t)),o.opacity=c(d),o+""}}return r.gamma=n,r})(1)}var Vd=si(gr),xn=si(V);function k(e){for(var n=e.length/6|0,t=new Array(n),r=0;r<n;)t[r]="#"+e.slice(r*6,++r*6);return t}var Yd=k("1f77b4ff7f0e2ca02cd627289467bd8c564be377c27f7f7fbcbd2217becf"),Xd=k("7fc97fbeaed4fdc086ffff99386cb0f0027fbf5b17666666"),Qd=k("1b9e77d95f027570b3e7298a66a61ee6ab02a6761d666666"),Jd=k("4269d0efb118ff725c6cc5b03ca951ff8ab7a463f297bbf59c6b4e9498a0"),Zd=k("a6cee31f78b4b2df8a33a02cfb9a99e31a1cfdbf6fff7f00cab2d66a3d9affff99b15928"),ef=k("fbb4aeb3cde3ccebc5decbe4fed9a6ffffcce5d8bdfddaecf2f2f2"),tf=k("b3e2cdfdcdaccbd5e8f4cae4e6f5c9fff2aef1e2cccccccc"),nf=k("e41a1c377eb84daf4a984ea3ff7f00ffff33a65628f781bf999999"),rf=k("66c2a5fc8d628da0cbe78ac3a6d854ffd92fe5c494b3b3b3"),of=k("8dd3c7ffffb3bebadafb807280b1d3fdb462b3de69fccde5d9d9d9bc80bdccebc5ffed6f"),af=k("4e79a7f28e2ce1575976b7b259a14fedc949af7aa1ff9da79c755fbab0ab"),T=e=>ti(e[e.length-1]),sl=new Array(3).concat("d8b365f5f5f55ab4ac","a6611adfc27d80cdc1018571","a6611adfc27df5f5f580cdc1018571","8c510ad8b365f6e8c3c7eae55ab4ac01665e","8c510ad8b365f6e8c3f5f5f5c7eae55ab4ac01665e","8c510abf812ddfc27df6e8c3c7eae580cdc135978f01665e","8c510abf812ddfc27df6e8c3f5f5f5c7eae580cdc135978f01665e","5430058c510abf812ddfc27df6e8c3c7eae580cdc135978f01665e003c30","5430058c510abf812ddfc27df6e8c3f5f5f5c7eae580cdc135978f01665e003c30").map(k),sf=T(sl),ll=new Array(3).concat("af8dc3f7f7f77fbf7b","7b3294c2a5cfa6dba0008837","7b3294c2a5cff7f7f7a6dba0008837","762a83af8dc3e7d4e8d9f0d37fbf7b1b7837","762a83af8dc3e7d4e8f7f7f7d9f0d37fbf7b1b7837","762a839970abc2a5cfe7d4e8d9f0d3a6dba05aae611b7837","762a839970abc2a5cfe7d4e8f7f7f7d9f0d3a6dba05aae611b7837","40004b762a839970abc2a5cfe7d4e8d9f0d3a6dba05aae611b783700441b","40004b762a839970abc2a5cfe7d4e8f7f7f7d9f0d3a6dba05aae611b783700441b").map(k),lf=T(ll),cl=new Array(3).concat("e9a3c9f7f7f7a1d76a","d01c8bf1b6dab8e1864dac26","d01c8bf1b6daf7f7f7b8e1864dac26","c51b7de9a3c9fde0efe6f5d0a1d76a4d9221","c51b7de9a3c9fde0eff7f7f7e6f5d0a1d76a4d9221","c51b7dde77aef1b6dafde0efe6f5d0b8e1867fbc414d9221","c51b7dde77aef1b6dafde0eff7f7f7e6f5d0b8e1867fbc414d9221","8e0152c51b7dde77aef1b6dafde0efe6f5d0b8e1867fbc414d9221276419","8e0152c51b7dde77aef1b6dafde0eff7f7f7e6f5d0b8e1867fbc414d9221276419").map(k),cf=T(cl),ul=new Array(3).concat("998ec3f7f7f7f1a340","5e3c99b2abd2fdb863e66101","5e3c99b2abd2f7f7f7fdb863e66101","542788998ec3d8daebfee0b6f1a340b35806","542788998ec3d8daebf7f7f7fee0b6f1a340b35806","5427888073acb2abd2d8daebfee0b6fdb863e08214b35806","5427888073acb2abd2d8daebf7f7f7fee0b6fdb863e08214b35806","2d004b5427888073acb2abd2d8daebfee0b6fdb863e08214b358067f3b08","2d004b5427888073acb2abd2d8daebf7f7f7fee0b6fdb863e08214b358067f3b08").map(k),uf=T(ul),dl=new Array(3).concat("ef8a62f7f7f767a9cf","ca0020f4a58292c5de0571b0","ca0020f4a582f7f7f792c5de0571b0","b2182bef8a62fddbc7d1e5f067a9cf2166ac","b2182bef8a62fddbc7f7f7f7d1e5f067a9cf2166ac","b2182bd6604df4a582fddbc7d1e5f092c5de4393c32166ac","b2182bd6604df4a582fddbc7f7f7f7d1e5f092c5de4393c32166ac","67001fb2182bd6604df4a582fddbc7d1e5f092c5de4393c32166ac053061","67001fb2182bd6604df4a582fddbc7f7f7f7d1e5f092c5de4393c32166ac053061").map(k),li=T(dl),fl=new Array(3).concat("ef8a62ffffff999999","ca0020f4a582bababa404040","ca0020f4a582ffffffbababa404040","b2182bef8a62fddbc7e0e0e09999994d4d4d","b2182bef8a62fddbc7ffffffe0e0e09999994d4d4d","b2182bd6604df4a582fddbc7e0e0e0bababa8787874d4d4d","b2182bd6604df4a582fddbc7ffffffe0e0e0bababa8787874d4d4d","67001fb2182bd6604df4a582fddbc7e0e0e0bababa8787874d4d4d1a1a1a","67001fb2182bd6604df4a582fddbc7ffffffe0e0e0bababa8787874d4d4d1a1a1a").map(k),df=T(fl),hl=new Array(3).concat("fc8d59ffffbf91bfdb","d7191cfdae61abd9e92c7bb6","d7191cfdae61ffffbfabd9e92c7bb6","d73027fc8d59fee090e0f3f891bfdb4575b4","d73027fc8d59fee090ffffbfe0f3f891bfdb4575b4","d73027f46d43fdae61fee090e0f3f8abd9e974add14575b4","d73027f46d43fdae61fee090ffffbfe0f3f8abd9e974add14575b4","a50026d73027f46d43fdae61fee090e0f3f8abd9e974add14575b4313695","a50026d73027f46d43fdae61fee090ffffbfe0f3f8abd9e974add14575b4313695").map(k),ff=T(hl),ml=new Array(3).concat("fc8d59ffffbf91cf60","d7191cfdae61a6d96a1a9641","d7191cfdae61ffffbfa6d96a1a9641","d73027fc8d59fee08bd9ef8b91cf601a9850","d73027fc8d59fee08bffffbfd9ef8b91cf601a9850","d73027f46d43fdae61fee08bd9ef8ba6d96a66bd631a9850","d73027f46d43fdae61fee08bffffbfd9ef8ba6d96a66bd631a9850","a50026d73027f46d43fdae61fee08bd9ef8ba6d96a66bd631a9850006837","a50026d73027f46d43fdae61fee08bffffbfd9ef8ba6d96a66bd631a9850006837").map(k),hf=T(ml),pl=new Array(3).concat("fc8d59ffffbf99d594","d7191cfdae61abdda42b83ba","d7191cfdae61ffffbfabdda42b83ba","d53e4ffc8d59fee08be6f59899d5943288bd","d53e4ffc8d59fee08bffffbfe6f59899d5943288bd","d53e4ff46d43fdae61fee08be6f598abdda466c2a53288bd","d53e4ff46d43fdae61fee08bffffbfe6f598abdda466c2a53288bd","9e0142d53e4ff46d43fdae61fee08be6f598abdda466c2a53288bd5e4fa2","9e0142d53e4ff46d43fdae61fee08bffffbfe6f598abdda466c2a53288bd5e4fa2").map(k),mf=T(pl),bl=new Array(3).concat("e5f5f999d8c92ca25f","edf8fbb2e2e266c2a4238b45","edf8fbb2e2e266c2a42ca25f006d2c","edf8fbccece699d8c966c2a42ca25f006d2c","edf8fbccece699d8c966c2a441ae76238b45005824","f7fcfde5f5f9ccece699d8c966c2a441ae76238b45005824","f7fcfde5f5f9ccece699d8c966c2a441ae76238b45006d2c00441b").map(k),pf=T(bl),gl=new Array(3).concat("e0ecf49ebcda8856a7","edf8fbb3cde38c96c688419d","edf8fbb3cde38c96c68856a7810f7c","edf8fbbfd3e69ebcda8c96c68856a7810f7c","edf8fbbfd3e69ebcda8c96c68c6bb188419d6e016b","f7fcfde0ecf4bfd3e69ebcda8c96c68c6bb188419d6e016b","f7fcfde0ecf4bfd3e69ebcda8c96c68c6bb188419d810f7c4d004b").map(k),bf=T(gl),yl=new Array(3).concat("e0f3dba8ddb543a2ca","f0f9e8bae4bc7bccc42b8cbe","f0f9e8bae4bc7bccc443a2ca0868ac","f0f9e8ccebc5a8ddb57bccc443a2ca0868ac","f0f9e8ccebc5a8ddb57bccc44eb3d32b8cbe08589e","f7fcf0e0f3dbccebc5a8ddb57bccc44eb3d32b8cbe08589e","f7fcf0e0f3dbccebc5a8ddb57bccc44eb3d32b8cbe0868ac084081").map(k),gf=T(yl),wl=new Array(3).concat("fee8c8fdbb84e34a33","fef0d9fdcc8afc8d59d7301f","fef0d9fdcc8afc8d59e34a33b30000","fef0d9fdd49efdbb84fc8d59e34a33b30000","fef0d9fdd49efdbb84fc8d59ef6548d7301f990000","fff7ecfee8c8fdd49efdbb84fc8d59ef6548d7301f990000","fff7ecfee8c8fdd49efdbb84fc8d59ef6548d7301fb300007f0000").map(k),yf=T(wl),vl=new Array(3).concat("ece2f0a6bddb1c9099","f6eff7bdc9e167a9cf02818a","f6eff7bdc9e167a9cf1c9099016c59","f6eff7d0d1e6a6bddb67a9cf1c9099016c59","f6eff7d0d1e6a6bddb67a9cf3690c002818a016450","fff7fbece2f0d0d1e6a6bddb67a9cf3690c002818a016450","fff7fbece2f0d0d1e6a6bddb67a9cf3690c002818a016c59014636").map(k),wf=T(vl),xl=new Array(3).concat("ece7f2a6bddb2b8cbe","f1eef6bdc9e174a9cf0570b0","f1eef6bdc9e174a9cf2b8cbe045a8d","f1eef6d0d1e6a6bddb74a9cf2b8cbe045a8d","f1eef6d0d1e6a6bddb74a9cf3690c00570b0034e7b","fff7fbece7f2d0d1e6a6bddb74a9cf3690c00570b0034e7b","fff7fbece7f2d0d1e6a6bddb74a9cf3690c00570b0045a8d023858").map(k),vf=T(xl),Ml=new Array(3).concat("e7e1efc994c7dd1c77","f1eef6d7b5d8df65b0ce1256","f1eef6d7b5d8df65b0dd1c77980043","f1eef6d4b9dac994c7df65b0dd1c77980043","f1eef6d4b9dac994c7df65b0e7298ace125691003f","f7f4f9e7e1efd4b9dac994c7df65b0e7298ace125691003f","f7f4f9e7e1efd4b9dac994c7df65b0e7298ace125698004367001f").map(k),xf=T(Ml),$l=new Array(3).concat("fde0ddfa9fb5c51b8a","feebe2fbb4b9f768a1ae017e","feebe2fbb4b9f768a1c51b8a7a0177","feebe2fcc5c0fa9fb5f768a1c51b8a7a0177","feebe2fcc5c0fa9fb5f768a1dd3497ae017e7a0177","fff7f3fde0ddfcc5c0fa9fb5f768a1dd3497ae017e7a0177","fff7f3fde0ddfcc5c0fa9fb5f768a1dd3497ae017e7a017749006a").map(k),Mf=T($l),kl=new Array(3).concat("edf8b17fcdbb2c7fb8","ffffcca1dab441b6c4225ea8","ffffcca1dab441b6c42c7fb8253494","ffffccc7e9b47fcdbb41b6c42c7fb8253494","ffffccc7e9b47fcdbb41b6c41d91c0225ea80c2c84","ffffd9edf8b1c7e9b47fcdbb41b6c41d91c0225ea80c2c84","ffffd9edf8b1c7e9b47fcdbb41b6c41d91c0225ea8253494081d58").map(k),$f=T(kl),Al=new Array(3).concat("f7fcb9addd8e31a354","ffffccc2e69978c679238443","ffffccc2e69978c67931a354006837","ffffccd9f0a3addd8e78c67931a354006837","ffffccd9f0a3addd8e78c67941ab5d238443005a32","ffffe5f7fcb9d9f0a3addd8e78c67941ab5d238443005a32","ffffe5f7fcb9d9f0a3addd8e78c67941ab5d238443006837004529").map(k),kf=T(Al),Tl=new Array(3).concat("fff7bcfec44fd95f0e","ffffd4fed98efe9929cc4c02","ffffd4fed98efe9929d95f0e993404","ffffd4fee391fec44ffe9929d95f0e993404","ffffd4fee391fec44ffe9929ec7014cc4c028c2d04","ffffe5fff7bcfee391fec44ffe9929ec7014cc4c028c2d04","ffffe5fff7bcfee391fec44ffe9929ec7014cc4c02993404662506").map(k),Af=T(Tl),Sl=new Array(3).concat("ffeda0feb24cf03b20","ffffb2fecc5cfd8d3ce31a1c","ffffb2fecc5cfd8d3cf03b20bd0026","ffffb2fed976feb24cfd8d3cf03b20bd0026","ffffb2fed976feb24cfd8d3cfc4e2ae31a1cb10026","ffffccffeda0fed976feb24cfd8d3cfc4e2ae31a1cb10026","ffffccffeda0fed976feb24cfd8d3cfc4e2ae31a1cbd0026800026").map(k),Tf=T(Sl),El=new Array(3).concat("deebf79ecae13182bd","eff3ffbdd7e76baed62171b5","eff3ffbdd7e76baed63182bd08519c","eff3ffc6dbef9ecae16baed63182bd08519c","eff3ffc6dbef9ecae16baed64292c62171b5084594","f7fbffdeebf7c6dbef9ecae16baed64292c62171b5084594","f7fbffdeebf7c6dbef9ecae16baed64292c62171b508519c08306b").map(k),Sf=T(El),Cl=new Array(3).concat("e5f5e0a1d99b31a354","edf8e9bae4b374c476238b45","edf8e9bae4b374c47631a354006d2c","edf8e9c7e9c0a1d99b74c47631a354006d2c","edf8e9c7e9c0a1d99b74c47641ab5d238b45005a32","f7fcf5e5f5e0c7e9c0a1d99b74c47641ab5d238b45005a32","f7fcf5e5f5e0c7e9c0a1d99b74c47641ab5d238b45006d2c00441b").map(k),Ef=T(Cl),Ll=new Array(3).concat("f0f0f0bdbdbd636363","f7f7f7cccccc969696525252","f7f7f7cccccc969696636363252525","f7f7f7d9d9d9bdbdbd969696636363252525","f7f7f7d9d9d9bdbdbd969696737373525252252525","fffffff0f0f0d9d9d9bdbdbd969696737373525252252525","fffffff0f0f0d9d9d9bdbdbd969696737373525252252525000000").map(k),Cf=T(Ll),_l=new Array(3).concat("efedf5bcbddc756bb1","f2f0f7cbc9e29e9ac86a51a3","f2f0f7cbc9e29e9ac8756bb154278f","f2f0f7dadaebbcbddc9e9ac8756bb154278f","f2f0f7dadaebbcbddc9e9ac8807dba6a51a34a1486","fcfbfdefedf5dadaebbcbddc9e9ac8807dba6a51a34a1486","fcfbfdefedf5dadaebbcbddc9e9ac8807dba6a51a354278f3f007d").map(k),Lf=T(_l),Pl=new Array(3).concat("fee0d2fc9272de2d26","fee5d9fcae91fb6a4acb181d","fee5d9fcae91fb6a4ade2d26a50f15","fee5d9fcbba1fc9272fb6a4ade2d26a50f15","fee5d9fcbba1fc9272fb6a4aef3b2ccb181d99000d","fff5f0fee0d2fcbba1fc9272fb6a4aef3b2ccb181d99000d","fff5f0fee0d2fcbba1fc9272fb6a4aef3b2ccb181da50f1567000d").map(k),_f=T(Pl),zl=new Array(3).concat("fee6cefdae6be6550d","feeddefdbe85fd8d3cd94701","feeddefdbe85fd8d3ce6550da63603","feeddefdd0a2fdae6bfd8d3ce6550da63603","feeddefdd0a2fdae6bfd8d3cf16913d948018c2d04","fff5ebfee6cefdd0a2fdae6bfd8d3cf16913d948018c2d04","fff5ebfee6cefdd0a2fdae6bfd8d3cf16913d94801a636037f2704").map(k),Pf=T(zl);function ci(e){return e=Math.max(0,Math.min(1,e)),"rgb("+Math.max(0,Math.min(255,Math.round(-4.54-e*(35.34-e*(2381.73-e*(6402.7-e*(7024.72-e*2710.57)))))))+", "+Math.max(0,Math.min(255,Math.round(32.49+e*(170.73+e*(52.82-e*(131.46-e*(176.58-e*67.37)))))))+", "+Math.max(0,Math.min(255,Math.round(81.24+e*(442.36-e*(2482.43-e*(6167.24-e*(6614.94-e*2475.67)))))))+")"}var zf=xn(X(300,.5,0),X(-240,.5,1)),Rf=xn(X(-100,.75,.35),X(80,1.5,.8)),Nf=xn(X(260,.75,.35),X(80,1.5,.8)),Of=X();var Df=He(),If=Math.PI/3,Bf=Math.PI*2/3;function Mn(e){var n=e.length;return function(t){return e[Math.max(0,Math.min(n-1,Math.floor(t*n)))]}}var qf=Mn(k("44015444025645045745055946075a46085c460a5d460b5e470d60470e6147106347116447136548146748166848176948186a481a6c481b6d481c6e481d6f481f70482071482173482374482475482576482677482878482979472a7a472c7a472d7b472e7c472f7d46307e46327e46337f463480453581453781453882443983443a83443b84433d84433e85423f854240864241864142874144874045884046883f47883f48893e49893e4a893e4c8a3d4d8a3d4e8a3c4f8a3c508b3b518b3b528b3a538b3a548c39558c39568c38588c38598c375a8c375b8d365c8d365d8d355e8d355f8d34608d34618d33628d33638d32648e32658e31668e31678e31688e30698e306a8e2f6b8e2f6c8e2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e2c728e2c738e2b748e2b758e2a768e2a778e2a788e29798e297a8e297b8e287c8e287d8e277e8e277f8e27808e26818e26828e26828e25838e25848e25858e24868e24878e23888e23898e238a8d228b8d228c8d228d8d218e8d218f8d21908d21918c20928c20928c20938c1f948c1f958b1f968b1f978b1f988b1f998a1f9a8a1e9b8a1e9c891e9d891f9e891f9f881fa0881fa1881fa1871fa28720a38620a48621a58521a68522a78522a88423a98324aa8325ab8225ac8226ad8127ad8128ae8029af7f2ab07f2cb17e2db27d2eb37c2fb47c31b57b32b67a34b67935b77937b87838b9773aba763bbb753dbc743fbc7340bd7242be7144bf7046c06f48c16e4ac16d4cc26c4ec36b50c46a52c56954c56856c66758c7655ac8645cc8635ec96260ca6063cb5f65cb5e67cc5c69cd5b6ccd5a6ece5870cf5773d05675d05477d1537ad1517cd2507fd34e81d34d84d44b86d54989d5488bd6468ed64590d74393d74195d84098d83e9bd93c9dd93ba0da39a2da37a5db36a8db34aadc32addc30b0dd2fb2dd2db5de2bb8de29bade28bddf26c0df25c2df23c5e021c8e020cae11fcde11dd0e11cd2e21bd5e21ad8e219dae319dde318dfe318e2e418e5e419e7e419eae51aece51befe51cf1e51df4e61ef6e620f8e621fbe723fde725")),Wf=Mn(k("00000401000501010601010802010902020b02020d03030f03031204041405041606051806051a07061c08071e0907200a08220b09240c09260d0a290e0b2b100b2d110c2f120d31130d34140e36150e38160f3b180f3d19103f1a10421c10441d11471e114920114b21114e22115024125325125527125829115a2a115c2c115f2d11612f116331116533106734106936106b38106c390f6e3b0f703d0f713f0f72400f74420f75440f764510774710784910784a10794c117a4e117b4f127b51127c52137c54137d56147d57157e59157e5a167e5c167f5d177f5f187f601880621980641a80651a80671b80681c816a1c816b1d816d1d816e1e81701f81721f817320817521817621817822817922827b23827c23827e24828025828125818326818426818627818827818928818b29818c29818e2a81902a81912b81932b80942c80962c80982d80992d809b2e7f9c2e7f9e2f7fa02f7fa1307ea3307ea5317ea6317da8327daa337dab337cad347cae347bb0357bb2357bb3367ab5367ab73779b83779ba3878bc3978bd3977bf3a77c03a76c23b75c43c75c53c74c73d73c83e73ca3e72cc3f71cd4071cf4070d0416fd2426fd3436ed5446dd6456cd8456cd9466bdb476adc4869de4968df4a68e04c67e24d66e34e65e44f64e55064e75263e85362e95462ea5661eb5760ec5860ed5a5fee5b5eef5d5ef05f5ef1605df2625df2645cf3655cf4675cf4695cf56b5cf66c5cf66e5cf7705cf7725cf8745cf8765cf9785df9795df97b5dfa7d5efa7f5efa815ffb835ffb8560fb8761fc8961fc8a62fc8c63fc8e64fc9065fd9266fd9467fd9668fd9869fd9a6afd9b6bfe9d6cfe9f6dfea16efea36ffea571fea772fea973feaa74feac76feae77feb078feb27afeb47bfeb67cfeb77efeb97ffebb81febd82febf84fec185fec287fec488fec68afec88cfeca8dfecc8ffecd90fecf92fed194fed395fed597fed799fed89afdda9cfddc9efddea0fde0a1fde2a3fde3a5fde5a7fde7a9fde9aafdebacfcecaefceeb0fcf0b2fcf2b4fcf4b6fcf6b8fcf7b9fcf9bbfcfbbdfcfdbf")),Ff=Mn(k("00000401000501010601010802010a02020c02020e03021004031204031405041706041907051b08051d09061f0a07220b07240c08260d08290e092b10092d110a30120a32140b34150b37160b39180c3c190c3e1b0c411c0c431e0c451f0c48210c4a230c4c240c4f260c51280b53290b552b0b572d0b592f0a5b310a5c320a5e340a5f3609613809623909633b09643d09653e0966400a67420a68440a68450a69470b6a490b6a4a0c6b4c0c6b4d0d6c4f0d6c510e6c520e6d540f6d550f6d57106e59106e5a116e5c126e5d126e5f136e61136e62146e64156e65156e67166e69166e6a176e6c186e6d186e6f196e71196e721a6e741a6e751b6e771c6d781c6d7a1d6d7c1d6d7d1e6d7f1e6c801f6c82206c84206b85216b87216b88226a8a226a8c23698d23698f24699025689225689326679526679727669827669a28659b29649d29649f2a63a02a63a22b62a32c61a52c60a62d60a82e5fa92e5eab2f5ead305dae305cb0315bb1325ab3325ab43359b63458b73557b93556ba3655bc3754bd3853bf3952c03a51c13a50c33b4fc43c4ec63d4dc73e4cc83f4bca404acb4149cc4248ce4347cf4446d04545d24644d34743d44842d54a41d74b3fd84c3ed94d3dda4e3cdb503bdd513ade5238df5337e05536e15635e25734e35933e45a31e55c30e65d2fe75e2ee8602de9612bea632aeb6429eb6628ec6726ed6925ee6a24ef6c23ef6e21f06f20f1711ff1731df2741cf3761bf37819f47918f57b17f57d15f67e14f68013f78212f78410f8850ff8870ef8890cf98b0bf98c0af98e09fa9008fa9207fa9407fb9606fb9706fb9906fb9b06fb9d07fc9f07fca108fca309fca50afca60cfca80dfcaa0ffcac11fcae12fcb014fcb216fcb418fbb61afbb81dfbba1ffbbc21fbbe23fac026fac228fac42afac62df9c72ff9c932f9cb35f8cd37f8cf3af7d13df7d340f6d543f6d746f5d949f5db4cf4dd4ff4df53f4e156f3e35af3e55df2e661f2e865f2ea69f1ec6df1ed71f1ef75f1f179f2f27df2f482f3f586f3f68af4f88ef5f992f6fa96f8fb9af9fc9dfafda1fcffa4")),Hf=Mn(k("0d088710078813078916078a19068c1b068d1d068e20068f2206902406912605912805922a05932c05942e05952f059631059733059735049837049938049a3a049a3c049b3e049c3f049c41049d43039e44039e46039f48039f4903a04b03a14c02a14e02a25002a25102a35302a35502a45601a45801a45901a55b01a55c01a65e01a66001a66100a76300a76400a76600a76700a86900a86a00a86c00a86e00a86f00a87100a87201a87401a87501a87701a87801a87a02a87b02a87d03a87e03a88004a88104a78305a78405a78606a68707a68808a68a09a58b0aa58d0ba58e0ca48f0da4910ea3920fa39410a29511a19613a19814a099159f9a169f9c179e9d189d9e199da01a9ca11b9ba21d9aa31e9aa51f99a62098a72197a82296aa2395ab2494ac2694ad2793ae2892b02991b12a90b22b8fb32c8eb42e8db52f8cb6308bb7318ab83289ba3388bb3488bc3587bd3786be3885bf3984c03a83c13b82c23c81c33d80c43e7fc5407ec6417dc7427cc8437bc9447aca457acb4679cc4778cc4977cd4a76ce4b75cf4c74d04d73d14e72d24f71d35171d45270d5536fd5546ed6556dd7566cd8576bd9586ada5a6ada5b69db5c68dc5d67dd5e66de5f65de6164df6263e06363e16462e26561e26660e3685fe4695ee56a5de56b5de66c5ce76e5be76f5ae87059e97158e97257ea7457eb7556eb7655ec7754ed7953ed7a52ee7b51ef7c51ef7e50f07f4ff0804ef1814df1834cf2844bf3854bf3874af48849f48948f58b47f58c46f68d45f68f44f79044f79143f79342f89441f89540f9973ff9983ef99a3efa9b3dfa9c3cfa9e3bfb9f3afba139fba238fca338fca537fca636fca835fca934fdab33fdac33fdae32fdaf31fdb130fdb22ffdb42ffdb52efeb72dfeb82cfeba2cfebb2bfebd2afebe2afec029fdc229fdc328fdc527fdc627fdc827fdca26fdcb26fccd25fcce25fcd025fcd225fbd324fbd524fbd724fad824fada24f9dc24f9dd25f8df25f8e125f7e225f7e425f6e626f6e826f5e926f5eb27f4ed27f3ee27f3f027f2f227f1f426f1f525f0f724f0f921"));var yr=1e-4,$n=256;function ui(e){let n=new Uint8ClampedArray($n*3);for(let t=0;t<$n;t+=1){let r=(e(t/($n-1)).match(/\d+/g)??[]).map(Number);n.set(r.slice(0,3),t*3)}return n}var Rl=null,Nl=null;function Me(e){return e==="weights"?Rl??=ui(ci):Nl??=ui(li)}function $e(e,n){let{max:t}=e;if(!(t>0)||Number.isNaN(n))return e.kind==="difference"?.5:0;let r=Math.min(1,Math.abs(n)/t),o=e.colouring==="log"?Math.max(0,1-Math.log(Math.max(r,yr))/Math.log(yr)):r;return e.kind==="difference"?.5+Math.sign(n)*o/2:n<0?0:o}function di(e,n){let t=e.kind==="difference"?n*2-1:n,r=Math.abs(t);if(r===0)return 0;let o=e.colouring==="log"?yr**(1-r):r;return Math.sign(t)*o*e.max}var Ol=[1,1.2,1.5,2,2.5,3,4,5,6,8,10];function ct(e){if(!(e>0)||!Number.isFinite(e))return 1;let n=10**Math.floor(Math.log10(e)),t=Ol.find(r=>r*n>=e*(1-1e-6))??10;return Number((t*n).toPrecision(3))}function wr(e){return e==="weights"?[213,94,0]:[0,0,0]}function Ue(e,n){if(Number.isNaN(n))return wr(e.kind);let t=Me(e.kind),r=Math.round($e(e,n)*($n-1))*3;return[t[r],t[r+1],t[r+2]]}function kn([e,n,t]){return`rgb(${e}, ${n}, ${t})`}function An([e,n,t]){let r=i=>i<=10?i/3294.6:((i/255+.055)/1.055)**2.4;return .2126*r(e)+.7152*r(n)+.0722*r(t)>.179?"#000":"#fff"}function _(e,n=3){return e===0?"0":Math.abs(e)<1e-4?e.toExponential(Math.max(0,n-2)).replace("e-","e\u2212").replace(/^-/,"\u2212"):String(Number(e.toPrecision(n))).replace("-","\u2212")}function fi(e,n,t=!1){if(e===0)return"0";let r=e.toFixed(n).replace(/^-(0\.?0*)$/,"$1").replace("-","\u2212");return t?r.startsWith("0")||r.startsWith("\u22120")?r.replace("0",""):e.toFixed(1).replace("-","\u2212"):r}function Q(e){let n=e*100;return n===0?"0 %":n<.001?"< 0.001 %":n<.1?`${Number(n.toPrecision(2))} %`:`${n<9.95?n.toFixed(1):Math.round(n)} %`}var hi=z`
  :host {
    display: flex;
    flex-direction: column;
    gap: 8px;
    min-height: 0;
  }
  .top {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 10px;
    align-items: center;
    justify-content: space-between;
  }
  h2 {
    font-size: 15px;
  }
  label {
    display: flex;
    gap: 6px;
    align-items: center;
    color: var(--muted);
    min-width: 0;
    white-space: nowrap;
  }
  select {
    min-width: 0;
    color: var(--ink);
  }
  .list {
    position: relative;
    overflow: auto;
    min-height: 0;
    flex: 1 1 auto;
    display: grid;
    grid-template-columns: var(--columns, repeat(auto-fill, var(--thumb, 48px)));
    align-content: start;
    gap: 4px;
    padding: 6px;
    border-radius: 8px;
    background: var(--sunken);
    contain: content;
  }
  .layer {
    grid-column: 1 / -1;
    color: var(--muted);
    font-size: 12px;
    line-height: 1.2;
    padding: 5px 2px 0;
    /* Without it the row of a list that scrolls is as high as its padding: what is cut off asks for no room. */
    min-height: calc(1.2em + 5px);
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .beside .layer {
    grid-column: 1;
    padding: 0 2px 0 0;
    min-height: 0;
    text-align: right;
    align-self: center;
  }
  .head {
    position: relative;
    min-width: 0;
    cursor: pointer;
    border-radius: 4px;
    font-size: 11px;
    color: var(--muted);
    text-align: center;
    line-height: 1.25;
  }
  canvas {
    position: absolute;
    top: 0;
    left: 0;
    pointer-events: none;
  }
  .picture {
    display: block;
    height: var(--thumb, 48px);
  }
  .head:hover::after, .head[aria-selected="true"]::after, .head.other::after {
    content: "";
    position: absolute;
    inset: 0 0 auto;
    height: var(--thumb, 48px);
    border: 2px solid var(--muted);
    border-radius: 4px;
    pointer-events: none;
  }
  .head[aria-selected="true"]::after, .head.other::after {
    border: 3px solid var(--accent);
    box-shadow: inset 0 0 0 1.5px var(--panel);
  }
  .head.other::after {
    border-color: var(--warn);
  }
  .head[aria-selected="true"] {
    color: var(--ink);
  }
  .name {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    display: block;
  }
`;var vr=10;function se(e){let n=0;for(let t of e){let r=Math.abs(t);r>n&&(n=r)}return n}function ke({window:e,rows:n,cols:t,every:r}){return r===1&&n===e.r1-e.r0&&t===e.c1-e.c0}function Tn({window:e,rows:n,cols:t},r,o){let{r0:i,r1:a,c0:s,c1:l}=e;return r>=i&&r<a&&o>=s&&o<l?K(r-i,a-i,n)*t+K(o-s,l-s,t):-1}function mi(e,n){let{r0:t,r1:r,c0:o,c1:i}=e.window;if(!ke(e)||n.r0<t||n.r1>r||n.c0<o||n.c1>i)return null;let a=n.r1-n.r0,s=n.c1-n.c0,l=new Float32Array(a*s);for(let c=0;c<a;c+=1){let d=(n.r0-t+c)*e.cols+n.c0-o;l.set(e.values.subarray(d,d+s),c*s)}return{...e,window:n,rows:a,cols:s,values:l,largest:se(l)}}function zt(e,n){return Int32Array.from({length:e},(t,r)=>K(r,e,n))}function le(e,n){return Int32Array.from({length:n+1},(t,r)=>Ct(r,e,n))}function Ve(e,n){return Math.ceil(e/Math.ceil(e/n))}function xr(e,n,t,r,o){let i=t.r1-t.r0,a=t.c1-t.c0,s=Ve(i,r),l=Ve(a,r),c=new Float32Array(s*l),d=zt(i,s),u=zt(a,l);for(let f=0;f<i;f+=1){let h=d[f]*l,p=(t.r0+f)*n+t.c0;for(let b=0;b<a;b+=1){let m=e[p+b],w=h+u[b];o==="mass"?c[w]+=m:m>c[w]&&(c[w]=m)}}if(o==="mass"&&s<i){let f=le(i,s);for(let h=0;h<s;h+=1){let p=f[h+1]-f[h];for(let b=h*l;b<(h+1)*l;b+=1)c[b]/=p}}return{window:t,rows:s,cols:l,values:c,known:null,every:1,largest:se(c)}}function pi(e,{rows:n,cols:t},r,o){return xr(e,t,ee({rows:n,cols:t}),r,o)}function bi(e,n){if(e.rows!==n.rows||e.cols!==n.cols)return null;let t=e.values.map((i,a)=>i-n.values[a]),r=e.known||n.known?t.map((i,a)=>(e.known?.[a]??1)&(n.known?.[a]??1)):null,o=Math.max(e.every,n.every);return{...e,values:t,known:r?Uint8Array.from(r):null,every:o,largest:se(t)}}function ut(e,n,t){let r=n?e.map((i,a)=>n[a]?i:0):e,o=Sn(r,vr).map(i=>({at:i,weight:e[i]}));return{values:e,known:n,places:e.length,every:t,peaks:o}}function Sn(e,n){let t=[];for(let r=0;r<e.length;r+=1){let o=e[r];if(!(o>0)||t.length===n&&!(o>e[t[n-1]]))continue;let i=t.length;for(;i>0&&e[t[i-1]]<o;)i-=1;t.splice(i,0,r),t.length>n&&t.pop()}return t}var Ke='system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif',ce=15;function gi(e){let n=getComputedStyle(e),t=r=>n.getPropertyValue(r).trim()||"#888";return{muted:t("--muted"),line:t("--line"),accent:t("--accent"),accentText:t("--accent-ink"),bar:t("--bar")}}function Mr(e,n,t){if(e.measureText(n).width<=t)return n;let r=[...n],o=0,i=r.length;for(;o<i;){let a=Math.ceil((o+i)/2);e.measureText(`${r.slice(0,a).join("")}\u2026`).width<=t?o=a:i=a-1}return o>0?`${r.slice(0,o).join("")}\u2026`:""}var En=class{constructor(n,t,r,o){this.context=n;this.layout=t;this.window=r;this.ink=o}x(n){let{plot:t}=this.layout;return t.x+(n-this.window.c0)/(this.window.c1-this.window.c0)*t.width}y(n){let{plot:t}=this.layout;return t.y+(n-this.window.r0)/(this.window.r1-this.window.r0)*t.height}get cellWidth(){return this.layout.plot.width/(this.window.c1-this.window.c0)}get cellHeight(){return this.layout.plot.height/(this.window.r1-this.window.r0)}rowLabels({name:n,marked:t}){let{context:r,ink:o,layout:{plot:i}}=this,a=ir(this.cellHeight,ce-1),s=i.x-8;r.font=`12px ${Ke}`,r.textAlign="right",r.textBaseline="middle";let l=t.map(u=>this.y(u+.5)),{r0:c,r1:d}=this.window;for(let u=Math.ceil((c-.5)/a)*a;u<d;u+=a){let f=this.y(u+.5);u<0||f<i.y||f>i.y+i.height||l.some(h=>Math.abs(h-f)<ce)||(r.fillStyle=o.muted,r.fillText(Mr(r,n(u),s),i.x-6,f))}for(let u of t){let f=this.y(u+.5);if(f<i.y-1||f>i.y+i.height+1)continue;let h=Mr(r,n(u),s-4),p=r.measureText(h).width+8;r.fillStyle=o.accent,r.fillRect(i.x-2-p,f-ce/2-1,p,ce+2),r.fillStyle=o.accentText,r.fillText(h,i.x-6,f)}}colLabels({name:n,marked:t}){let{context:r,ink:o,layout:{plot:i}}=this;r.font=`12px ${Ke}`,r.textBaseline="middle";let{c0:a,c1:s}=this.window,l=this.labelsLieFlat(n),c=ir(this.cellWidth,l?1:ce-1),d=l?this.cellWidth-6:i.y-8,u=l?this.cellWidth*.6:ce,f=t.map(p=>this.x(p+.5)),h=(p,b)=>{let m=this.x(p+.5);if(m<i.x-1||m>i.x+i.width+1)return;r.save(),r.translate(m,i.y-6),l||r.rotate(-Math.PI/2),r.textAlign=l?"center":"left";let w=Mr(r,n(p),b&&!l?d-4:d);if(b){let $=r.measureText(w).width+8;r.fillStyle=o.accent,r.fillRect(l?-$/2:-4,l?-ce+2:-ce/2-1,$,ce+2)}r.fillStyle=b?o.accentText:o.muted,r.fillText(w,0,l?-ce/2+3:0),r.restore()};for(let p=Math.ceil((a-.5)/c)*c;p<s;p+=c){let b=this.x(p+.5);p>=0&&!f.some(m=>Math.abs(m-b)<u)&&h(p,!1)}for(let p of t)h(p,!0)}labelsLieFlat(n){if(this.cellWidth<16)return!1;for(let t=Math.floor(this.window.c0);t<this.window.c1;t+=1)if(this.context.measureText(n(t)).width>this.cellWidth-6)return!1;return!0}corner(n,t){let{context:r,ink:o,layout:{plot:i}}=this;r.font=`11px ${Ke}`,r.fillStyle=o.muted,r.textAlign="right",r.textBaseline="alphabetic",r.fillText(`${t} \u2192`,i.x-8,i.y-26),r.fillText(`${n} \u2193`,i.x-8,i.y-12)}cells(n,t,r){let{context:o,window:i,layout:{plot:a}}=this;if(!(!ke(n)||Math.min(this.cellWidth,this.cellHeight)<10)){o.save(),o.beginPath(),o.rect(a.x,a.y,a.width,a.height),o.clip(),o.strokeStyle="rgba(128, 128, 128, 0.28)",o.lineWidth=1,o.beginPath();for(let s=Math.ceil(i.r0);s<i.r1;s+=1)o.moveTo(a.x,Math.round(this.y(s))+.5),o.lineTo(a.x+a.width,Math.round(this.y(s))+.5);for(let s=Math.ceil(i.c0);s<i.c1;s+=1)o.moveTo(Math.round(this.x(s))+.5,a.y),o.lineTo(Math.round(this.x(s))+.5,a.y+a.height);o.stroke(),this.cellWidth>=34&&this.cellHeight>=16&&this.numbers(n,t,r),o.restore()}}numbers(n,t,r){let{context:o,window:i}=this;o.font=`${Math.min(14,Math.max(11,this.cellHeight*.32))}px ${Ke}`,o.textAlign="center",o.textBaseline="middle";let{decimals:a,short:s}=this.decimals(n,t);for(let l=Math.floor(i.r0);l<i.r1;l+=1)for(let c=Math.floor(i.c0);c<i.c1;c+=1){let d=Tn(n,l,c);if(d<0||r({row:l,col:c}))continue;let u=n.values[d],h=(!n.known||n.known[d]===1?"":"\u2248")+fi(u,a,s);o.fillStyle=An(Ue(t,u)),o.measureText(h).width<=this.cellWidth-4&&o.fillText(h,this.x(c+.5),this.y(l+.5))}}decimals(n,t){let r=(n.known?"\u2248":"")+(t.kind==="difference"?"\u2212":"");for(let o=this.cellWidth>=90?4:3;o>=2;o-=1){let i=this.cellWidth-(o>2?12:4);if(this.context.measureText(`${r}0.${"0".repeat(o)}`).width<=i)return{decimals:o,short:!1}}return{decimals:2,short:!0}}strip(n,t,r,o,i,a){let{context:s,ink:l,window:c,layout:{plot:d}}=this,u=i==="rows",f=Math.round(u?n.height:n.width),[h,p]=u?[c.r0,c.r1]:[c.c0,c.c1],b=u?n.width:n.height;s.fillStyle=l.bar;let m=w=>t[K(Math.min(r-1,Math.max(0,w)),r,t.length)];for(let w=0;w<f;w+=1){let $=Math.floor(h+w/f*(p-h)),S=Math.max($+1,Math.floor(h+(w+1)/f*(p-h))),E=0,B=Math.max(1,Math.floor((S-$)/64));for(let Z=$;Z<S;Z+=B)E=Math.max(E,m(Z));let P=o>0?Math.max(E>0?1:0,E/o*b):0;u?s.fillRect(n.x,n.y+w,P,1):s.fillRect(n.x+w,n.y,1,P)}s.strokeStyle=l.line,s.lineWidth=1,s.beginPath(),u?(s.moveTo(n.x-.5,n.y),s.lineTo(n.x-.5,n.y+n.height)):(s.moveTo(n.x,n.y-.5),s.lineTo(n.x+n.width,n.y-.5)),s.stroke(),s.fillStyle=l.muted,s.font=`11px ${Ke}`,s.textBaseline="middle",u?(s.textAlign="left",s.fillText(a,n.x,d.y-8)):(s.textAlign="right",s.fillText(a,d.x-6,n.y+8))}cross({row:n,col:t},r){let{context:o,ink:i,layout:{plot:a}}=this;o.save(),o.beginPath(),o.rect(a.x-1,a.y-1,a.width+2,a.height+2),o.clip();let s=Math.min(this.cellWidth,this.cellHeight)<5,l=s?1:this.cellWidth,c=s?1:this.cellHeight,d=s?this.x(t+.5)-.5:this.x(t),u=s?this.y(n+.5)-.5:this.y(n),f=r?i.accent:"rgba(255, 255, 255, 0.85)";for(let[h,p]of[["rgba(0, 0, 0, 0.6)",r?3.5:3],[f,r?2:1]]){if(o.strokeStyle=h,o.fillStyle=h,o.lineWidth=p,s){o.fillRect(a.x,u+.5-p/2,a.width,p),o.fillRect(d+.5-p/2,a.y,p,a.height);continue}o.strokeRect(a.x-4,u,a.width+8,c),o.strokeRect(d,a.y-4,l,a.height+8)}o.strokeStyle="#fff",o.lineWidth=2,s||o.strokeRect(d,u,l,c),o.restore()}frame(){let{context:n,ink:t,layout:{plot:r}}=this;n.strokeStyle=t.line,n.lineWidth=1,n.strokeRect(r.x-.5,r.y-.5,r.width+1,r.height+1)}};function $r(e,n,t){let r=Me(n.kind),o=([l,c,d])=>(255<<24|d<<16|c<<8|l)>>>0,i=new Uint32Array(256);for(let l=0;l<256;l+=1)i[l]=o([r[l*3],r[l*3+1],r[l*3+2]]);let a=o(wr(n.kind)),s=new Uint32Array(e.values.length);for(let l=0;l<s.length;l+=1){let c=e.values[l];s[l]=Number.isNaN(c)?a:i[Math.round($e(n,c)*255)]}return t==="causal"&&Dl(e,s),s}function Dl({window:e,rows:n,cols:t},r){let o=le(e.r1-e.r0,n),i=le(e.c1-e.c0,t);for(let a=0;a<n;a+=1){let s=e.r0+o[a+1]-1;for(let l=0;l<t;l+=1)e.c0+i[l]>s&&(r[a*t+l]=0)}}function yi(e,n,t,r,o,i){return Int32Array.from({length:e},(a,s)=>{let l=Math.floor(n+(s+.5)/e*(t-n));return l<r||l>=o?-1:K(l-r,o-r,i)})}function wi(e,n,t,r,o,i){let{window:a}=o,s=yi(n,r.c0,r.c1,a.c0,a.c1,o.cols),l=yi(t,r.r0,r.r1,a.r0,a.r1,o.rows),c=s.every(d=>d>=0);for(let d=0;d<t;d+=1){let u=l[d];if(u<0)continue;let f=d*n;if(c&&d>0&&l[d-1]===u){e.copyWithin(f,f-n,f);continue}let h=u*o.cols;for(let p=0;p<n;p+=1){let b=s[p];b>=0&&(e[f+p]=i[h+b])}}}function vi(e,n,t){let r=new ImageData(e.cols,e.rows);return new Uint32Array(r.data.buffer).set($r(e,n,t)),r}function Cn(e){return e.shape==="causal"&&e.rows===e.cols}function Mi(e,n,t){let r=Math.min(3,globalThis.devicePixelRatio||1),o=Math.round(t.width*r),i=Math.round(t.height*r);e.width!==o&&(e.width=o),e.height!==i&&(e.height=i),n.setTransform(1,0,0,1,0,0),n.clearRect(0,0,o,i),Il(n,t,r),n.setTransform(r,0,0,r,0,0),ql(n,t)}var xi=new WeakMap;function Il(e,n,t){let{layout:{plot:r},window:o,scale:i,map:a}=n,s=Math.max(1,Math.round(r.width*t)),l=Math.max(1,Math.round(r.height*t)),{r0:c,r1:d,c0:u,c1:f}=o,h=[s,l,c,d,u,f,i.kind,i.colouring,i.max,a,...n.tiles],p=xi.get(e.canvas),b=p&&p.of.length===h.length&&h.every((w,$)=>w===p.of[$]),m=b?p.image:Bl(e.createImageData(s,l),n);b||xi.set(e.canvas,{of:h,image:m}),e.putImageData(m,Math.round(r.x*t),Math.round(r.y*t))}function Bl(e,{tiles:n,scale:t,map:r,window:o}){let i=new Uint32Array(e.data.buffer);for(let a of n){if(!a)continue;let s=$r(a,t,Cn(r)?"causal":"none");wi(i,e.width,e.height,o,a,s)}return e}function ql(e,n){let{layout:t,window:r,map:o,ink:i,cursor:a,pinned:s,name:l}=n,c=new En(e,t,r,i),d=n.tiles.at(-1),u=({row:h,col:p})=>Cn(o)&&p>h;c.frame(),d&&c.cells(d,n.scale,u),t.entropy&&n.entropy&&c.strip(t.entropy,n.entropy,o.rows,Math.max(Math.log(o.cols),se(n.entropy)),"rows",n.say("entropyStrip")),t.received&&n.received&&c.strip(t.received,n.received,o.cols,se(n.received),"cols",n.say("receivedStrip")),s&&c.cross(s,!0),a&&c.cross(a,!1);let f=[s,a].filter(h=>h!==null);c.corner(n.say("queries"),n.say("keys")),c.rowLabels({name:h=>l("row",h),marked:f.map(({row:h})=>h)}),c.colLabels({name:h=>l("col",h),marked:f.map(({col:h})=>h)})}var Wl=10,Fl=64,Hl=16e3,Ln=class{constructor(n,t){this.canvas=n;this.done=t;this.frame=0;this.small=document.createElement("canvas")}stop(){cancelAnimationFrame(this.frame)}paint(n,t){this.stop();let{canvas:r}=this,o=Math.min(2,globalThis.devicePixelRatio||1,Hl/Math.max(1,n.height));r.width=Math.max(1,Math.round(n.width*o)),r.height=Math.max(1,Math.round(n.height*o)),r.style.width=`${n.width}px`,r.style.height=`${n.height}px`;let i=r.getContext("2d");if(!i)return;i.setTransform(o,0,0,o,0,0),i.imageSmoothingEnabled=!1;let a=[...n.places],s=()=>{let l=performance.now()+Wl,c=a.findIndex(({y:u})=>u+n.size>=t()),d=Math.max(0,c);for(;a.length>0&&performance.now()<l;)d>=a.length&&(d=0),this.one(i,n,a.splice(d,1)[0]);a.length>0?this.frame=requestAnimationFrame(s):this.done()};s()}one(n,{document:t,source:r,reduce:o,colouring:i,size:a},s){let l=t.maps[s.map],c=this.small.getContext("2d",{willReadFrequently:!0});if(!l||!c)return;let d=r.thumbnail(s.map,Math.min(Fl,a),o),u=vi(d,{kind:"weights",colouring:i,max:ct(d.largest)},Cn(l)?"causal":"none");this.small.width=d.cols,this.small.height=d.rows,c.putImageData(u,0,0),n.clearRect(s.x,s.y,a,a),n.drawImage(this.small,s.x,s.y,a,a)}};var Ul={heads:{en:"Heads",zh:"\u6CE8\u610F\u529B\u5934"},headsHint:{en:"Each small picture of a head has its own colour scale.",zh:"\u6BCF\u5E45\u5C0F\u56FE\u5404\u7528\u81EA\u5DF1\u7684\u8272\u9636\u3002"},sortBy:{en:"Sort by",zh:"\u6392\u5E8F"},sort_layer:{en:"layer",zh:"\u5C42"},sort_given:{en:"as given",zh:"\u539F\u6709\u987A\u5E8F"},sort_entropy:{en:"lowest entropy",zh:"\u71B5\u6700\u4F4E\uFF08\u6700\u96C6\u4E2D\uFF09"},sort_distance:{en:"farthest look",zh:"\u770B\u5F97\u6700\u8FDC"},sort_diagonality:{en:"most diagonal",zh:"\u6700\u63A5\u8FD1\u5BF9\u89D2"},sort_first:{en:"most on first token",zh:"\u9996\u8BCD\u5143\u6240\u5F97\u6700\u591A"},stat_entropy:{en:"entropy",zh:"\u71B5"},stat_distance:{en:"distance",zh:"\u8DDD\u79BB"},stat_diagonality:{en:"on the diagonal",zh:"\u5BF9\u89D2\u7EBF\u4E0A"},stat_first:{en:"on the first token",zh:"\u5728\u9996\u8BCD\u5143\u4E0A"},nats:{en:"{value} nats",zh:"{value} \u5948\u7279"},places:{en:"{value} tokens",zh:"{value} \u4E2A\u8BCD\u5143"},layerTitle:{en:"layer {layer}",zh:"\u5C42 {layer}"},callTitle:{en:"call {call}",zh:"\u7B2C {call} \u6B21\u8C03\u7528"},headTitle:{en:"head {head}",zh:"\u5934 {head}"},map:{en:"Attention map",zh:"\u6CE8\u610F\u529B\u56FE"},mapLabel:{en:"Attention map, {head}: {rows} queries by {cols} keys. Arrow keys walk the cells, question mark for help.",zh:"\u6CE8\u610F\u529B\u56FE\uFF0C{head}\uFF1A{rows} \u4E2A\u67E5\u8BE2\uFF0C{cols} \u4E2A\u952E\u3002\u65B9\u5411\u952E\u79FB\u52A8\u5355\u5143\u683C\uFF0C\u95EE\u53F7\u952E\u67E5\u770B\u5E2E\u52A9\u3002"},differenceLabel:{en:"Difference, {a} minus {b}. Arrow keys walk the cells.",zh:"\u5DEE\u503C\uFF1A{a} \u51CF {b}\u3002\u65B9\u5411\u952E\u79FB\u52A8\u5355\u5143\u683C\u3002"},queries:{en:"queries",zh:"\u67E5\u8BE2"},keys:{en:"keys",zh:"\u952E"},query:{en:"Query",zh:"\u67E5\u8BE2"},key:{en:"Key",zh:"\u952E"},weight:{en:"Weight",zh:"\u6743\u91CD"},difference:{en:"Difference",zh:"\u5DEE\u503C"},shape_self:{en:"Self-attention: every token looks at every token.",zh:"\u81EA\u6CE8\u610F\u529B\uFF1A\u6BCF\u4E2A\u8BCD\u5143\u770B\u5411\u6240\u6709\u8BCD\u5143\u3002"},shape_causal:{en:"Causal self-attention: a token looks at itself and earlier ones.",zh:"\u56E0\u679C\u81EA\u6CE8\u610F\u529B\uFF1A\u8BCD\u5143\u53EA\u770B\u5411\u81EA\u5DF1\u548C\u66F4\u65E9\u7684\u8BCD\u5143\u3002"},shape_cross:{en:"Cross-attention: {rows} queries (down) look at {cols} keys (across).",zh:"\u4EA4\u53C9\u6CE8\u610F\u529B\uFF1A{rows} \u4E2A\u67E5\u8BE2\uFF08\u7EB5\u5411\uFF09\u770B\u5411 {cols} \u4E2A\u952E\uFF08\u6A2A\u5411\uFF09\u3002"},pooling:{en:"Pooling",zh:"\u5408\u5E76"},pool_mass:{en:"mass",zh:"\u603B\u91CF"},pool_max:{en:"largest",zh:"\u6700\u5927\u503C"},poolHint_mass:{en:"Mass: of the average query of a cell, how much goes to its keys.",zh:"\u603B\u91CF\uFF1A\u5355\u5143\u683C\u4E2D\u5E73\u5747\u6BCF\u4E2A\u67E5\u8BE2\u6709\u591A\u5C11\u6CE8\u610F\u529B\u843D\u5728\u8FD9\u4E9B\u952E\u4E0A\u3002"},poolHint_max:{en:"Largest: the largest single weight in a cell.",zh:"\u6700\u5927\u503C\uFF1A\u5355\u5143\u683C\u4E2D\u6700\u5927\u7684\u5355\u4E2A\u6743\u91CD\u3002"},colour:{en:"Colour",zh:"\u989C\u8272"},colour_linear:{en:"linear",zh:"\u7EBF\u6027"},colour_log:{en:"log",zh:"\u5BF9\u6570"},compare:{en:"Compare",zh:"\u6BD4\u8F83"},stopComparing:{en:"Stop comparing",zh:"\u7ED3\u675F\u6BD4\u8F83"},compareA:{en:"A",zh:"A"},compareB:{en:"B",zh:"B"},noDifference:{en:"A is {a}, B is {b}: maps of different sizes have no difference.",zh:"A \u4E3A {a}\uFF0CB \u4E3A {b}\uFF1A\u5927\u5C0F\u4E0D\u540C\u7684\u56FE\u6CA1\u6709\u5DEE\u503C\u3002"},swap:{en:"Swap A and B",zh:"\u4EA4\u6362 A \u4E0E B"},whole:{en:"Whole map",zh:"\u6574\u56FE"},zoomIn:{en:"Zoom in",zh:"\u653E\u5927"},zoomOut:{en:"Zoom out",zh:"\u7F29\u5C0F"},help:{en:"Help",zh:"\u5E2E\u52A9"},close:{en:"Close",zh:"\u5173\u95ED"},language:{en:"Language",zh:"\u8BED\u8A00"},notes:{en:"Notes",zh:"\u8BF4\u660E"},legendWeights:{en:"weight",zh:"\u6743\u91CD"},legendMass:{en:"mass of a cell",zh:"\u5355\u5143\u683C\u603B\u91CF"},legendMax:{en:"largest weight of a cell",zh:"\u5355\u5143\u683C\u6700\u5927\u6743\u91CD"},legendDifference:{en:"A \u2212 B",zh:"A \u2212 B"},entropyStrip:{en:"entropy",zh:"\u71B5"},receivedStrip:{en:"received",zh:"\u83B7\u5F97"},pooledReading:{en:"Pooled: its cell holds {mass} of its queries\u2019 attention, its largest weight is {max}.",zh:"\u5DF2\u5408\u5E76\uFF1A\u6240\u5728\u5355\u5143\u683C\u5360\u5176\u67E5\u8BE2\u6CE8\u610F\u529B\u7684 {mass}\uFF0C\u6700\u5927\u6743\u91CD\u4E3A {max}\u3002"},pooledDifference:{en:"Pooled: not known for this one cell.",zh:"\u5DF2\u5408\u5E76\uFF1A\u65E0\u6CD5\u5F97\u77E5\u8FD9\u4E00\u683C\u7684\u6570\u503C\u3002"},below:{en:"at most {least}",zh:"\u4E0D\u8D85\u8FC7 {least}"},reading:{en:"asking \u2026",zh:"\u67E5\u8BE2\u4E2D\u2026\u2026"},unreachable:{en:"The server that made this page does not answer ({why}). What the page itself holds is shown.",zh:"\u751F\u6210\u6B64\u9875\u9762\u7684\u670D\u52A1\u5668\u6CA1\u6709\u54CD\u5E94\uFF08{why}\uFF09\u3002\u73B0\u663E\u793A\u9875\u9762\u81EA\u5E26\u7684\u6570\u636E\u3002"},sampled:{en:"For this picture one of {every} queries was read: closer in, all of them are.",zh:"\u6B64\u56FE\u6BCF {every} \u4E2A\u67E5\u8BE2\u53D6\u4E00\u4E2A\uFF1B\u653E\u5927\u540E\u5C06\u8BFB\u53D6\u5168\u90E8\u3002"},sampledPage:{en:"This page was made from one of {every} queries.",zh:"\u6B64\u9875\u9762\u7531\u6BCF {every} \u4E2A\u67E5\u8BE2\u4E2D\u7684\u4E00\u4E2A\u751F\u6210\u3002"},estimated:{en:"Pooled data: the largest weights of every query are exact; what is left of a cell is shared out evenly (\u2248).",zh:"\u6570\u636E\u5DF2\u5408\u5E76\uFF1A\u6BCF\u4E2A\u67E5\u8BE2\u7684\u6700\u5927\u6743\u91CD\u662F\u7CBE\u786E\u7684\uFF0C\u5355\u5143\u683C\u4F59\u4E0B\u90E8\u5206\u5E73\u5747\u5206\u644A\uFF08\u2248\uFF09\u3002"},token:{en:"Token",zh:"\u8BCD\u5143"},pickHint:{en:"Point at the map, or pick a token in the text. Enter or a click pins it.",zh:"\u6307\u5411\u56FE\u4E2D\u67D0\u5904\uFF0C\u6216\u5728\u6587\u672C\u4E2D\u9009\u8BCD\u5143\u3002\u6309\u56DE\u8F66\u6216\u5355\u51FB\u53EF\u56FA\u5B9A\u3002"},queryNumber:{en:"Query",zh:"\u67E5\u8BE2"},keyNumber:{en:"Key",zh:"\u952E"},looksAt:{en:"Where {token} looks",zh:"{token} \u770B\u5411\u54EA\u91CC"},lookedAt:{en:"Who looks at {token}",zh:"\u8C01\u770B\u5411 {token}"},nothing:{en:"No weight at all.",zh:"\u6CA1\u6709\u4EFB\u4F55\u6743\u91CD\u3002"},unknownLine:{en:"This page holds pooled numbers: of each query only the {count} largest weights are exact.",zh:"\u6B64\u9875\u9762\u53EA\u542B\u5408\u5E76\u6570\u636E\uFF1A\u6BCF\u4E2A\u67E5\u8BE2\u53EA\u6709\u6700\u5927\u7684 {count} \u4E2A\u6743\u91CD\u662F\u7CBE\u786E\u7684\u3002"},sampledLine:{en:"So long that only one of {every} queries was read.",zh:"\u5E8F\u5217\u592A\u957F\uFF0C\u6BCF {every} \u4E2A\u67E5\u8BE2\u53EA\u8BFB\u53D6\u4E86\u4E00\u4E2A\u3002"},pinned:{en:"pinned",zh:"\u5DF2\u56FA\u5B9A"},sentenceOne:{en:"{query} looks {first} at {key}",zh:"{query} \u6709 {first} \u770B\u5411 {key}"},sentenceMore:{en:", {share} at {key}",zh:"\uFF0C{share} \u770B\u5411 {key}"},sentenceEnd:{en:".",zh:"\u3002"},here:{en:"Here: {weight}.",zh:"\u6B64\u5904\uFF1A{weight}\u3002"},hereUnknown:{en:"Here: pooled.",zh:"\u6B64\u5904\uFF1A\u5DF2\u5408\u5E76\u3002"},hereDifference:{en:"A \u2212 B here: {weight}.",zh:"\u6B64\u5904 A \u2212 B\uFF1A{weight}\u3002"},looksNowhere:{en:"{query} looks at nothing.",zh:"{query} \u4EC0\u4E48\u4E5F\u4E0D\u770B\u3002"},summaryText:{en:"Heads: {count}; layers: {layers}. Shown is {head}: {rows} queries, {cols} keys.",zh:"\u6CE8\u610F\u529B\u5934\uFF1A{count}\uFF1B\u5C42\uFF1A{layers}\u3002\u5F53\u524D\u4E3A {head}\uFF1A{rows} \u4E2A\u67E5\u8BE2\uFF0C{cols} \u4E2A\u952E\u3002"},noCanvas:{en:"This browser cannot draw; the numbers follow as text.",zh:"\u6B64\u6D4F\u89C8\u5668\u65E0\u6CD5\u7ED8\u56FE\uFF1B\u4EE5\u4E0B\u4EE5\u6587\u5B57\u7ED9\u51FA\u6570\u503C\u3002"},noInflate:{en:"This browser cannot unpack the page\u2019s numbers (DecompressionStream is missing: any browser since 2023 has it). What the header says follows as text.",zh:"\u6B64\u6D4F\u89C8\u5668\u65E0\u6CD5\u89E3\u538B\u9875\u9762\u6570\u636E\uFF08\u7F3A\u5C11 DecompressionStream\uFF0C2023 \u5E74\u4EE5\u6765\u7684\u6D4F\u89C8\u5668\u5747\u652F\u6301\uFF09\u3002\u4EE5\u4E0B\u4E3A\u6587\u5B57\u4FE1\u606F\u3002"},broken:{en:"This page cannot be shown: {why}",zh:"\u65E0\u6CD5\u663E\u793A\u6B64\u9875\u9762\uFF1A{why}"},helpTitle:{en:"Keys and mouse",zh:"\u6309\u952E\u4E0E\u9F20\u6807"},help_arrows:{en:"walk the cells (Shift: ten at a time)",zh:"\u79FB\u52A8\u5355\u5143\u683C\uFF08Shift\uFF1A\u6BCF\u6B21\u5341\u683C\uFF09"},help_zoom:{en:"zoom in, zoom out, whole map",zh:"\u653E\u5927\u3001\u7F29\u5C0F\u3001\u6574\u56FE"},help_enter:{en:"pin the row and column, or let go",zh:"\u56FA\u5B9A\u6216\u53D6\u6D88\u56FA\u5B9A\u884C\u4E0E\u5217"},help_heads:{en:"previous, next head",zh:"\u4E0A\u4E00\u4E2A\u3001\u4E0B\u4E00\u4E2A\u6CE8\u610F\u529B\u5934"},help_pool:{en:"mass or largest in pooled cells",zh:"\u5408\u5E76\u5355\u5143\u683C\uFF1A\u603B\u91CF\u6216\u6700\u5927\u503C"},help_log:{en:"linear or log colours",zh:"\u7EBF\u6027\u6216\u5BF9\u6570\u989C\u8272"},help_compare:{en:"compare two heads; Shift and click on a head takes it as B",zh:"\u6BD4\u8F83\u4E24\u4E2A\u6CE8\u610F\u529B\u5934\uFF1BShift \u52A0\u5355\u51FB\u67D0\u5934\u9009\u4E3A B"},help_sort:{en:"next order of heads",zh:"\u5207\u6362\u6392\u5E8F"},help_help:{en:"this help",zh:"\u672C\u5E2E\u52A9"},help_escape:{en:"leave: help, pin, comparison, zoom",zh:"\u4F9D\u6B21\u9000\u51FA\uFF1A\u5E2E\u52A9\u3001\u56FA\u5B9A\u3001\u6BD4\u8F83\u3001\u7F29\u653E"},help_ends:{en:"first, last key of the row",zh:"\u884C\u9996\u3001\u884C\u5C3E\u7684\u952E"},help_wheel:{en:"zoom where the pointer is (two fingers: pinch)",zh:"\u5728\u6307\u9488\u5904\u7F29\u653E\uFF08\u89E6\u5C4F\uFF1A\u53CC\u6307\uFF09"},help_drag:{en:"move the map",zh:"\u79FB\u52A8\u56FE"},help_double:{en:"zoom in closely",zh:"\u5FEB\u901F\u653E\u5927"},wheel:{en:"wheel",zh:"\u6EDA\u8F6E"},drag:{en:"drag",zh:"\u62D6\u52A8"},doubleClick:{en:"double click",zh:"\u53CC\u51FB"},statsHint:{en:"Entropy is how widely a query looks: 0 nats at one key alone, the logarithm of their number at all keys alike. Distance is how many tokens away it looks, on average; on the diagonal is what stays within 2 % of its own place.",zh:"\u71B5\u8868\u793A\u67E5\u8BE2\u770B\u5F97\u591A\u5206\u6563\uFF1A\u53EA\u770B\u4E00\u4E2A\u952E\u4E3A 0 \u5948\u7279\uFF0C\u5E73\u5747\u770B\u6240\u6709\u952E\u4E3A\u952E\u6570\u7684\u5BF9\u6570\u3002\u8DDD\u79BB\u662F\u5E73\u5747\u9694\u591A\u5C11\u4E2A\u8BCD\u5143\uFF1B\u5BF9\u89D2\u7EBF\u4E0A\u6307\u843D\u5728\u81EA\u8EAB\u4F4D\u7F6E\u9644\u8FD1 2% \u4E4B\u5185\u7684\u90E8\u5206\u3002"},stripsHint:{en:"The bars beside a map: the entropy of each query, and the sum of the weights that each key receives.",zh:"\u56FE\u65C1\u7684\u6761\u5F62\uFF1A\u6BCF\u4E2A\u67E5\u8BE2\u7684\u71B5\uFF0C\u4EE5\u53CA\u6BCF\u4E2A\u952E\u83B7\u5F97\u7684\u6743\u91CD\u4E4B\u548C\u3002"},notExplanation:{en:"A weight says where a head looks, not why the model answers as it does.",zh:"\u6743\u91CD\u8BF4\u660E\u6CE8\u610F\u529B\u5934\u770B\u5411\u54EA\u91CC\uFF0C\u5E76\u4E0D\u89E3\u91CA\u6A21\u578B\u4E3A\u4F55\u5982\u6B64\u56DE\u7B54\u3002"}};function g(e,n,t={}){return Ul[n][e].replace(/\{(\w+)\}/g,(o,i)=>Object.hasOwn(t,i)?String(t[i]):o)}function Rt(e,n,t){if(e??n)return e??n;for(let r of t){if(/^zh\b/i.test(r))return"zh";if(/^en\b/i.test(r))return"en"}return"en"}function Nt(e){return/[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(e)?`\u201C\u2068${e}\u2069\u201D`:`\u201C${e}\u201D`}function re(e,n){return e.toLocaleString(n==="zh"?"zh-CN":"en-GB")}var kr=class extends we{constructor(n){if(super(n),n.type!==cn.ELEMENT)throw new Error("styled stands in a tag, not in an attribute.")}render(n){return F}update(n,[t]){for(let[r,o]of Object.entries(t))n.element.style.setProperty(r,o);return F}},Ae=tt(kr);var W=z`
  :host {
    box-sizing: border-box;
    font: 14px/1.45 var(--font);
    color: var(--ink);
  }
  *, *::before, *::after {
    box-sizing: inherit;
  }
  h1, h2, h3 {
    margin: 0;
    font-weight: 600;
    line-height: 1.25;
  }
  button, select, input {
    font: inherit;
    color: inherit;
    background: var(--panel);
    border: 1px solid var(--line);
    border-radius: 7px;
    padding: 0.25rem 0.6rem;
    min-height: 30px;
  }
  button {
    cursor: pointer;
  }
  button:hover, select:hover {
    border-color: var(--muted);
  }
  button[aria-pressed="true"] {
    background: var(--accent);
    border-color: var(--accent);
    color: var(--accent-ink);
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    margin: -1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .muted {
    color: var(--muted);
  }
`;function $i(e,{width:n,height:t,extra:r,smallest:o,scrolling:i}){let a=Math.max(1,...e),s=null;for(let d=1;d<=a;d+=1){let u=Math.ceil(a/d),f=Math.min(96,Math.floor((n+4)/u)-4);if(f<o)continue;let h=e.reduce((b,m)=>b+Math.ceil(m/u),0);if(h*(f+4)+(e.length>1?e.length:h)*r<=t&&(!s||f>s.size)&&(s={size:f,across:u}),f===96)break}if(s)return s;let l=Math.max(1,Math.floor((n+4)/(i+4))),c=e.length>1||a<l?Math.ceil(a/Math.ceil(a/l)):l;return{size:Math.min(96,Math.floor((n+4)/c)-4),across:c}}function dt(e,{layers:n,maps:t,called:r}){let o=nr(n),i=new Map;for(let{layer:a}of t)i.set(a,(i.get(a)??0)+1);return t.map(({layer:a,head:s})=>{let{model:l,own:c,call:d}=o[a]??{model:"",own:"",call:1},u=n[a]?.label?.[e],f=i.get(a)===1&&s===0,h=!c&&n.length===1,p=[l,u??(h?"":g(e,"layerTitle",{layer:c||a})),d>1?g(e,"callTitle",{call:d}):"",f?"":r?`${r.head[e]} ${s}`:g(e,"headTitle",{head:s})].filter(Boolean).join(e==="zh"?"\uFF0C":", ");return p?l?p:p.charAt(0).toUpperCase()+p.slice(1):g(e,"map")})}var Vl=4,Kl=190,jl=6,Gl=72,ki=22,H=class extends C{constructor(){super(...arguments);this.selected=0;this.other=null;this.sort="layer";this.reduce="mass";this.colouring="linear";this.language="en";this.names=[];this.titles=[];this.order=[];this.beside=!1;this.across=1;this.size=48;this.sheet=null;this.sizes=new ResizeObserver(()=>this.measure());this.clicked=t=>{let r=t.target.closest("[data-map]");r&&this.choose(Number(r.dataset.map),t.shiftKey)};this.key=t=>{if(t.altKey||t.ctrlKey||t.metaKey)return;let r=this.order.indexOf(this.selected),o=this.order.length-1,i={ArrowLeft:()=>r-1,ArrowRight:()=>r+1,ArrowUp:()=>this.nextLine(r,-1),ArrowDown:()=>this.nextLine(r,1),Home:()=>0,End:()=>o},a=Object.hasOwn(i,t.key)?i[t.key]:void 0;a&&(t.preventDefault(),t.stopPropagation(),this.choose(this.order[Math.min(o,Math.max(0,a()))],!1))}}disconnectedCallback(){super.disconnectedCallback(),this.sizes.disconnect(),this.sheet?.stop()}connectedCallback(){super.connectedCallback(),this.hasUpdated&&this.sizes.observe(this)}firstUpdated(){this.sheet=new Ln(this.canvas,()=>this.dataset.ready="true"),this.sizes.observe(this),this.measure()}willUpdate(t){(t.has("document")||t.has("language"))&&(this.names=co(this.document.layers,this.language),this.titles=dt(this.language,this.document)),(t.has("document")||t.has("sort"))&&(this.order=Tt(this.document.maps,this.sort))}updated(t){this.mark(),(t.has("selected")||t.has("sort"))&&this.reveal(),(t.has("document")||t.has("sort"))&&(this.dataset.order=this.order.join(",")),this.dataset.selected=String(this.selected),this.dataset.sort=this.sort,t.has("sort")&&this.measure(),(t.size===0||[...t.keys()].some(r=>r!=="selected"&&r!=="other"))&&this.paint()}mark(){for(let t of this.list.querySelectorAll('[aria-selected="true"], .other'))t.setAttribute("aria-selected","false"),t.classList.remove("other");this.option(this.selected)?.setAttribute("aria-selected","true"),this.other!==null&&this.option(this.other)?.classList.add("other")}option(t){return this.renderRoot.querySelector(`#head-${t}`)}measure(){let t=this.list.clientWidth-14;if(t<=0)return;let r=this.sort==="layer",o=r&&this.names.every(c=>c.length<=3),i=new Map;for(let{layer:c}of this.document.maps)i.set(c,(i.get(c)??0)+1);let a=Math.max(...this.document.maps.map(c=>rr(c,this.names).length)),s=Math.min(Gl,Math.max(42,a*jl)),l=$i(r?[...i.values()]:[this.document.maps.length],{width:o?t-ki-Vl:t,height:Math.max(Kl,this.list.clientHeight)-12,extra:r?o?0:22:28,smallest:r?18:s,scrolling:r?28:s+2});this.style.setProperty("--thumb",`${l.size}px`),this.style.setProperty("--columns",`${o?`${ki}px `:""}repeat(${l.across}, minmax(0, ${l.size}px))`),!(o===this.beside&&l.across===this.across&&l.size===this.size)&&(this.beside=o,this.across=l.across,this.size=l.size,this.requestUpdate())}reveal(){let t=this.option(this.selected);if(!t)return;let r=t.offsetTop,o=r+t.offsetHeight;r<this.list.scrollTop?this.list.scrollTop=r-8:o>this.list.scrollTop+this.list.clientHeight&&(this.list.scrollTop=o-this.list.clientHeight+8)}paint(){let{document:t,source:r,reduce:o,colouring:i,size:a}=this,l=[...this.list.querySelectorAll("[role=option]")].map(d=>({map:Number(d.dataset.map),x:d.offsetLeft,y:d.offsetTop})),c=l.reduce((d,{y:u})=>Math.max(d,u+a),0);delete this.dataset.ready,this.sheet?.paint({document:t,source:r,reduce:o,colouring:i,size:a,places:l,width:this.list.clientWidth,height:c},()=>this.list.scrollTop)}choose(t,r){this.dispatchEvent(new CustomEvent("regard-head",{detail:{map:t,compare:r},bubbles:!0,composed:!0}))}nextLine(t,r){let o=[...this.list.querySelectorAll("[role=option]")],i=o[t];if(!i)return t;let a=t;for(let s=t+r;s>=0&&s<o.length;s+=r){let l=o[s];if(l.offsetTop===i.offsetTop)continue;if(a!==t&&l.offsetTop!==o[a].offsetTop)break;let c=Math.abs(l.offsetLeft-i.offsetLeft)<Math.abs(o[a].offsetLeft-i.offsetLeft);(a===t||c)&&(a=s)}return a}items(){if(this.sort!=="layer")return this.order.map((i,a)=>({kind:"head",map:i,place:a}));let t=[],r=null,o=0;for(let i of this.order){let{layer:a}=this.document.maps[i];o=a===r?o+1:0,a!==r&&t.push({kind:"layer",layer:a}),r=a,t.push({kind:"head",map:i,place:o})}return t}renderItem(t){if(t.kind==="layer"){let{name:s,model:l}=this.document.layers[t.layer]??{name:"",model:""},c=`${l} ${s}`.trim();return y`<span class="layer" aria-hidden="true" title=${c}>${this.names[t.layer]??t.layer}</span>`}let r=this.document.maps[t.map],o=this.sort==="layer"?void 0:r.stats[this.sort],i=typeof o=="number"&&Number.isFinite(o)?_(o,2):"",a=(this.titles[t.map]??"")+(i?`, ${i}`:"");return y`<div
      class="head" role="option" id="head-${t.map}" data-map=${t.map}
      ${Ae({"grid-column":this.beside?String(t.place%this.across+2):"auto"})}
      aria-selected="false" aria-label=${a} title=${a}>
      <span class="picture"></span>
      ${this.sort==="layer"?"":y`<span class="name">${rr(r,this.names)}</span><span class="name">${i}</span>`}
    </div>`}orderName(t){return g(this.language,t==="layer"&&this.document.called?"sort_given":`sort_${t}`)}render(){let t=r=>r.kind==="head"?`h${r.map}`:`l${r.layer}`;return y`
      <div class="top">
        <h2 id="heads-title">${this.document.called?.heads[this.language]??g(this.language,"heads")} <span class="muted">${this.document.maps.length}</span></h2>
        <label>${g(this.language,"sortBy")}
          <select .value=${this.sort} @change=${r=>this.dispatchEvent(new CustomEvent("regard-sort",{detail:{sort:r.target.value},bubbles:!0,composed:!0}))}>
            ${Ie.map(r=>y`<option value=${r} ?selected=${r===this.sort}>${this.orderName(r)}</option>`)}
          </select>
        </label>
      </div>
      <div class="list ${this.beside?"beside":""}" role="listbox" tabindex="0" aria-labelledby="heads-title"
        aria-activedescendant="head-${this.selected}" @click=${this.clicked} @keydown=${this.key}>
        <canvas aria-hidden="true" width="1" height="1"></canvas>
        ${nt([this.document,this.sort,this.language,this.beside,this.across],()=>Ao(this.items(),t,r=>this.renderItem(r)))}
      </div>
    `}};H.styles=[W,hi],v([M({attribute:!1})],H.prototype,"document",2),v([M({attribute:!1})],H.prototype,"source",2),v([M({type:Number})],H.prototype,"selected",2),v([M({attribute:!1})],H.prototype,"other",2),v([M()],H.prototype,"sort",2),v([M()],H.prototype,"reduce",2),v([M()],H.prototype,"colouring",2),v([M()],H.prototype,"language",2),v([Y(".list")],H.prototype,"list",2),v([Y("canvas")],H.prototype,"canvas",2),H=v([q("regard-heads")],H);var Ai=24;function Yl(e){let{kind:n,colouring:t,max:r}=e,o=n==="difference",a=(t==="linear"?[1,.5]:o?[1,.01]:[1,.1,.01,.001]).map(s=>s*r);return[...o?a.map(s=>-s):[],0,...a.reverse()]}var je=class extends C{constructor(){super(...arguments);this.scale={kind:"weights",colouring:"linear",max:1};this.label=""}render(){let t=Array.from({length:Ai+1},(i,a)=>kn(Ue(this.scale,di(this.scale,a/Ai)))),o=Yl(this.scale).map(i=>({value:i,at:Math.min(1,$e(this.scale,i))*100}));return y`
      <div class="name">${this.label}</div>
      <div class="bar" ${Ae({background:`linear-gradient(to right, ${t.join(", ")})`})}></div>
      <div class="ticks">
        ${o.map(({value:i,at:a})=>y`<span ${Ae({left:`${a}%`})}>${_(i)}</span>`)}
      </div>
    `}};je.styles=[W,z`
      :host {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
        gap: 0 10px;
        font-size: 12px;
      }
      .bar {
        height: 9px;
        border-radius: 3px;
        border: 1px solid var(--line);
      }
      .ticks {
        position: relative;
        height: 1.3em;
        color: var(--muted);
        font-variant-numeric: tabular-nums;
      }
      .ticks span {
        position: absolute;
        transform: translateX(-50%);
        white-space: nowrap;
      }
      .ticks span:first-child {
        transform: none;
      }
      .ticks span:last-child {
        transform: translateX(-100%);
      }
      .name {
        color: var(--muted);
        line-height: 11px;
      }
      .ticks {
        grid-column: 2;
      }
    `],v([M({attribute:!1})],je.prototype,"scale",2),v([M()],je.prototype,"label",2),je=v([q("regard-legend")],je);function Ti(e,n,t){let r=new Map,o=null,i=!1,a=null,s=({clientX:m,clientY:w})=>{let $=n();return[(m-$.left)/$.width,(w-$.top)/$.height]},l=([m,w])=>m>=0&&m<1&&w>=0&&w<1,c=()=>{let[m,w]=[...r.values()];return{distance:Math.hypot(m.x-w.x,m.y-w.y),x:(m.x+w.x)/2,y:(m.y+w.y)/2}},d=m=>{m.button!==0||!l(s(m))||(r.set(m.pointerId,{x:m.clientX,y:m.clientY}),o={x:m.clientX,y:m.clientY},i=r.size>1,e.setPointerCapture(m.pointerId))},u=m=>{let w=r.get(m.pointerId);if(a=m,!w){let E=s(m);l(E)?t.point(...E):t.leave();return}let $=n(),S={x:m.clientX,y:m.clientY};if(r.size===2){let E=c();r.set(m.pointerId,S);let B=c();t.move((E.x-B.x)/$.width,(E.y-B.y)/$.height);let P=B.distance/Math.max(1,E.distance);t.zoom(P,(B.x-$.left)/$.width,(B.y-$.top)/$.height);return}!i&&o&&Math.hypot(S.x-o.x,S.y-o.y)<4||(i=!0,r.set(m.pointerId,S),t.move((w.x-S.x)/$.width,(w.y-S.y)/$.height))},f=m=>{r.delete(m.pointerId)&&(!i&&m.type==="pointerup"&&t.click(...s(m)),r.size===0&&(o=null))},h=m=>{r.has(m.pointerId)||t.leave()},p=m=>{let w=a&&Math.abs(a.clientX-m.clientX)<=1&&Math.abs(a.clientY-m.clientY)<=1,$=s(w?a:m);if(!l($))return;let S=m.deltaY*(m.deltaMode===1?16:m.deltaMode===2?240:1),E=Math.exp(-S*.0016*(m.ctrlKey?6:1));t.zoom(Math.min(4,Math.max(.25,E)),...$)&&m.preventDefault()},b=m=>{let w=s(m);l(w)&&t.doubleClick(...w)};return e.addEventListener("pointerdown",d),e.addEventListener("pointermove",u),e.addEventListener("pointerup",f),e.addEventListener("pointercancel",f),e.addEventListener("pointerleave",h),e.addEventListener("wheel",p,{passive:!1}),e.addEventListener("dblclick",b),()=>{e.removeEventListener("pointerdown",d),e.removeEventListener("pointermove",u),e.removeEventListener("pointerup",f),e.removeEventListener("pointercancel",f),e.removeEventListener("pointerleave",h),e.removeEventListener("wheel",p),e.removeEventListener("dblclick",b)}}var Si=1.6,Xl=10;function Ei(e,{window:n,cursor:t},r,o){let i={row:Math.floor((n.r0+n.r1)/2),col:Math.floor((n.c0+n.c1)/2)},a=t??i,s=e.shiftKey?Xl:1,l=(u,f)=>{let h=t?{row:a.row+u,col:a.col+f}:a,p={row:Math.min(r.rows-1,Math.max(0,h.row)),col:Math.min(r.cols-1,Math.max(0,h.col))};return{cursor:p,window:St(n,r,p)}},c=u=>{let f=t??i,h=(w,$,S)=>Math.min(1,Math.max(0,(w+.5-$)/(S-$))),p=h(f.col,n.c0,n.c1),b=h(f.row,n.r0,n.r1),m=on(n,r,u,p,b);return{cursor:t,window:t?St(m,r,t):m}},d=Math.max(1,Math.floor(n.r1-n.r0)-1);switch(e.key){case"ArrowLeft":return l(0,-o.cols*s);case"ArrowRight":return l(0,o.cols*s);case"ArrowUp":return l(-o.rows*s,0);case"ArrowDown":return l(o.rows*s,0);case"Home":return l(e.ctrlKey?-r.rows:0,-r.cols);case"End":return l(e.ctrlKey?r.rows:0,r.cols);case"PageUp":return l(-d,0);case"PageDown":return l(d,0);case"+":case"=":return c(Si);case"-":case"_":return c(1/Si);case"0":return{cursor:t,window:ee(r)};default:return null}}function Ci(e){let n=e.strips&&e.width>400?50:0,t=Math.min(e.rowLabel,e.width*.3),r=Math.min(e.colLabel,e.height*.3),o=Math.max(60,e.width-t-Math.max(n,8)),i=Math.max(60,e.height-r-Math.max(n,4)),a=Math.min(1/.45,Math.max(.45,e.cols/e.rows)),s=Math.floor(Math.min(o,i*a)),l=Math.floor(Math.min(i,o/a)),c=Math.max(0,e.width-t-s-Math.max(n,8)),d={x:Math.round(t+c/2),y:Math.round(r),width:s,height:l};return n?{plot:d,entropy:{x:d.x+s+6,y:d.y,width:44,height:l},received:{x:d.x,y:d.y+l+6,width:s,height:44}}:{plot:d,entropy:null,received:null}}var Li=z`
  :host {
    display: grid;
    grid-template-rows: minmax(0, 1fr) auto;
    gap: 4px;
    min-width: 0;
    position: relative;
  }
  .stage {
    position: relative;
    min-height: 0;
    min-width: 0;
    border-radius: 6px;
    overflow: hidden;
    /* To place the numbers beside the cursor the rest of the page need not be laid out. */
    contain: layout paint;
  }
  .stage:focus-visible {
    outline-offset: -2px;
  }
  canvas {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    touch-action: none;
    cursor: crosshair;
  }
  .tip {
    position: absolute;
    z-index: 2;
    max-width: min(20rem, 80%);
    pointer-events: none;
    background: var(--panel);
    border: 1px solid var(--line);
    box-shadow: var(--shadow);
    border-radius: 8px;
    padding: 6px 10px;
    font-size: 13px;
    overflow-wrap: anywhere;
  }
  .tip dl {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: 1px 10px;
    margin: 0;
  }
  .tip dt {
    color: var(--muted);
  }
  .tip dd {
    margin: 0;
    font-weight: 600;
    white-space: pre-wrap;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 3;
    overflow: hidden;
  }
  .tip p {
    margin: 2px 0 0;
    color: var(--muted);
  }
  regard-legend {
    width: min(400px, 100%);
    justify-self: center;
  }
  .failure {
    margin: 0;
    font-size: 13px;
    color: var(--warn);
  }
`;function _i(e,{difference:n,read:t,weight:r,cell:o}){if(r!==null){let u=n||r<.001?"":` (${Q(r)})`;return{value:`${_(r,5)}${u}`,remark:""}}if(!t)return{value:g(e,"reading"),remark:""};let i=o===null?"?":`\u2248 ${_(o)}`;if(!t.pooled||n)return{value:i,remark:g(e,"pooledDifference")};let{mass:a,max:s,below:l}=t.pooled,c={mass:Q(a),max:s===null?"?":_(s)};return{value:l===null?i:g(e,"below",{least:_(l)}),remark:g(e,"pooledReading",c)}}var ft=18;function Pi(e,n,t,r){let{value:o,remark:i}=_i(e,r);return y`<div class="tip" aria-hidden="true">
    <dl>
      <dt>${g(e,"query")}</dt>
      <dd>${n}</dd>
      <dt>${g(e,"key")}</dt>
      <dd>${t}</dd>
      <dt>${g(e,r.difference?"difference":"weight")}</dt>
      <dd>${o}</dd>
    </dl>
    ${i?y`<p>${i}</p>`:x}
  </div>`}function zi(e,n,t,{r0:r,r1:o,c0:i,c1:a},{row:s,col:l}){let c=t.x+(l+.5-i)/(a-i)*t.width,d=t.y+(s+.5-r)/(o-r)*t.height,u=c+ft+e.offsetWidth<n.clientWidth,f=d+ft+e.offsetHeight<n.clientHeight;e.style.left=`${u?c+ft:Math.max(2,c-ft-e.offsetWidth)}px`,e.style.top=`${f?d+ft:Math.max(2,d-ft-e.offsetHeight)}px`}var ue=class{constructor(){this.running=!1;this.waiting=null;this.asked=0}ask(n,t,r){this.asked+=1;let o=this.asked,i=()=>{let a;try{a=n()}catch(s){r(s);return}if(!(a instanceof Promise)){t(a);return}this.running=!0,a.then(s=>t(s),s=>{o===this.asked&&r(s)}).finally(()=>{this.running=!1;let s=this.waiting;this.waiting=null,s?.()})};this.running?this.waiting=i:i()}drop(){this.asked+=1,this.waiting=null}};function Ar({map:e,other:n},t,r){let o=t(e),i=n===null?null:t(n);return o instanceof Promise||i instanceof Promise?Promise.all([o,i]).then(([a,s])=>r(a,s)):r(o,i)}var Ri=(e,n)=>n?bi(e,n):e,_n=class{constructor(n){this.changed=n;this.rough=null;this.tile=null;this.read=null;this.readOther=null;this.failure=null;this.tiles=new ue;this.readings=new ue;this.current=null;this.cursor=null;this.failed=n=>{this.failure=n instanceof Error?n.message:String(n),this.tile??=this.rough,this.changed("tile")}}reset(n){this.current=n,this.rough=null,this.tile=null,this.read=null,this.readOther=null}stop(){this.tiles.drop(),this.readings.drop()}load(n,t,r){let o=this.current;if(!o)return;let{source:i}=o;this.rough=Ar(o,a=>i.preview(a,n,t,r),Ri),this.tiles.ask(()=>Ar(o,a=>i.tile(a,n,t,r),Ri),a=>{o===this.current&&(this.tile=a,this.failure=null,this.changed("tile"))},this.failed)}readAt(n){let t=this.current;this.cursor=n,this.read=null,this.readOther=null,!(!n||!t)&&this.readings.ask(()=>Ar(t,r=>t.source.reading(r,n.row,n.col),(r,o)=>[r,o]),([r,o])=>{t!==this.current||n!==this.cursor||(this.read=r,this.readOther=o,this.changed("reading"))},this.failed)}get here(){let n=this.read?.weight??null;if(n===null||this.current?.other===null)return n;let t=this.readOther?.weight??null;return t===null?null:n-t}};var Ql=512,Jl=20,Zl=400,L=class extends C{constructor(){super(...arguments);this.map=0;this.other=null;this.window=null;this.cursor=null;this.pinned=null;this.reduce="mass";this.colouring="linear";this.language="en";this.least=0;this.label="";this.tipped=!1;this.weights=new _n(t=>this.arrived(t));this.sizes=new ResizeObserver(()=>this.resized());this.dark=matchMedia("(prefers-color-scheme: dark)");this.box=null;this.sized=!1;this.forget=null;this.frame=0;this.press=t=>{if(t.altKey||t.metaKey)return;if(t.key==="Enter"||t.key===" "){t.preventDefault(),this.cursor&&this.tell("regard-pin",{cell:this.cursor,by:"key"});return}let{tile:r}=this.weights,o=r?Math.max(1,Math.round((r.window.r1-r.window.r0)/r.rows)):1,i=r?Math.max(1,Math.round((r.window.c1-r.window.c0)/r.cols)):1,a=Ei(t,{window:this.sight,cursor:this.cursor},this.data,{rows:o,cols:i});a&&(t.preventDefault(),this.show(a.window),a.cursor&&this.point(a.cursor,"key"))};this.repaint=()=>{cancelAnimationFrame(this.frame),this.frame=requestAnimationFrame(()=>this.paint())}}get data(){return this.document.maps[this.map]}get sight(){return this.window?ye(this.window,this.data):ee(this.data)}get scale(){let{tile:t,rough:r}=this.weights,o=Math.max(this.least,(t??r)?.largest??0);return{kind:this.other===null?"weights":"difference",colouring:this.colouring,max:ct(o)}}connectedCallback(){super.connectedCallback(),this.dark.addEventListener("change",this.repaint),this.hasUpdated&&this.sizes.observe(this.stage)}disconnectedCallback(){super.disconnectedCallback(),this.dark.removeEventListener("change",this.repaint),this.sizes.disconnect(),this.weights.stop()}firstUpdated(){this.sizes.observe(this.stage);let t=(r,o)=>po(this.sight,this.data,r,o);this.forget?.(),this.forget=Ti(this.canvas,()=>this.plotBox(),{point:(r,o)=>this.point(t(r,o),"pointer"),leave:()=>this.cursor&&this.point(null,"pointer"),move:(r,o)=>{let{r0:i,r1:a,c0:s,c1:l}=this.sight,[c,d]=[o*(a-i),r*(l-s)];this.show(ye({r0:i+c,r1:a+c,c0:s+d,c1:l+d},this.data))},zoom:(r,o,i)=>{let a=this.show(on(this.sight,this.data,r,o,i));return a&&this.point(t(o,i),"pointer"),a},click:(r,o)=>this.tell("regard-pin",{cell:t(r,o),by:"pointer"}),doubleClick:(r,o)=>{let i=t(r,o);i&&this.show(bo(i,this.data,Jl))}})}tell(t,r){this.dispatchEvent(new CustomEvent(t,{detail:r,bubbles:!0,composed:!0}))}arrived(t){let{tile:r}=this.weights;t==="tile"&&r&&this.other===null&&this.tell("regard-tile",{map:this.map,largest:r.largest,every:r.every}),this.requestUpdate()}plotBox(){let t=this.stage.getBoundingClientRect(),{plot:r}=this.layout();return new DOMRect(t.x+r.x,t.y+r.y,r.width,r.height)}point(t,r){this.tipped=t!==null,t&&this.cursor&&t.row===this.cursor.row&&t.col===this.cursor.col||this.tell("regard-cursor",{cell:t,by:r})}show(t){let r=this.sight;return["r0","r1","c0","c1"].every(o=>Math.abs(t[o]-r[o])<1e-6)?!1:(this.window=t,this.tell("regard-window",{window:t}),!0)}resized(){this.sized=!0,this.box=null,this.load(),this.repaint()}willUpdate(t){(t.has("map")||t.has("other")||t.has("reduce")||t.has("source"))&&(this.weights.reset({source:this.source,map:this.map,other:this.other}),this.box=null),t.has("language")&&(this.box=null),t.has("cursor")&&this.cursor===null&&(this.tipped=!1)}updated(t){let r=["map","other","reduce","source"].some(o=>t.has(o));(r||t.has("window"))&&this.load(),(r||t.has("cursor"))&&this.weights.readAt(this.cursor),this.repaint(),this.tip&&this.cursor&&zi(this.tip,this.stage,this.layout().plot,this.sight,this.cursor),this.hooks()}hooks(){let{r0:t,r1:r,c0:o,c1:i}=this.sight,{here:a,tile:s}=this.weights,l={map:String(this.map),other:this.other===null?"":String(this.other),zoom:[t,r,o,i].join(","),row:this.cursor?String(this.cursor.row):"",col:this.cursor?String(this.cursor.col):"",weight:a===null?"":String(a),known:this.cursor?a===null?"pooled":"exact":"",pin:this.pinned?`${this.pinned.row},${this.pinned.col}`:"",cells:s?ke(s)?"exact":"pooled":"",max:String(this.scale.max),ready:String(s!==null)};for(let[c,d]of Object.entries(l))this.dataset[c]!==d&&(this.dataset[c]=d)}load(){if(!this.sized||this.stage.clientWidth===0)return;let{plot:t}=this.layout(),r=Math.max(8,Math.min(Ql,Math.floor(Math.min(t.width,t.height)*Math.max(1,devicePixelRatio))));this.weights.load(this.sight,r,this.reduce)}name(t,r){return _e(this.document,t==="row"?this.data.row_tokens:this.data.col_tokens,r)}labelRoom(t){let r=this.canvas.getContext("2d");r.font=`12px ${Ke}`;let o=t==="row"?this.data.rows:this.data.cols,i=Math.max(1,Math.floor(o/Zl)),a=r.measureText(this.name(t,o-1).slice(0,40)).width;for(let s=0;s<o;s+=i)a=Math.max(a,r.measureText(this.name(t,s).slice(0,40)).width);return Math.min(130,Math.max(t==="row"?66:44,a+18))}layout(){return this.box??=Ci({width:this.stage.clientWidth,height:this.stage.clientHeight,rows:this.data.rows,cols:this.data.cols,rowLabel:this.labelRoom("row"),colLabel:this.labelRoom("col"),strips:this.data.entropy!==null&&this.data.received!==null}),this.box}paint(){let t=this.isConnected?this.canvas?.getContext("2d"):null;if(!t||this.stage.clientWidth===0)return;let r=this.layout(),{rough:o,tile:i}=this.weights,a=this.other!==null;Mi(this.canvas,t,{layout:r,width:this.stage.clientWidth,height:this.stage.clientHeight,window:this.sight,tiles:this.document.live&&i?[o,i]:[i??o],scale:this.scale,map:this.data,ink:gi(this),cursor:this.cursor,pinned:this.pinned,entropy:this.data.entropy&&!a?ge(this.bytes,this.data.entropy):null,received:this.data.received&&!a?ge(this.bytes,this.data.received):null,name:(u,f)=>this.name(u,f),say:u=>g(this.language,u)});let{x:s,y:l,width:c,height:d}=r.plot;this.dataset.plot=[s,l,c,d].join(","),this.dataset.painted=i?"true":"rough"}renderTip(){let{cursor:t}=this;if(!t||!this.tipped)return x;let{tile:r,read:o,here:i}=this.weights,a=r?Tn(r,t.row,t.col):-1,s=a>=0?r.values[a]:null,l={difference:this.other!==null,read:o,weight:i,cell:s};return Pi(this.language,this.name("row",t.row),this.name("col",t.col),l)}legendName(){let{tile:t}=this.weights;return this.other!==null?g(this.language,"legendDifference"):!t||ke(t)?g(this.language,"legendWeights"):g(this.language,this.reduce==="mass"?"legendMass":"legendMax")}render(){let{failure:t}=this.weights;return y`
      <div class="stage" tabindex="0" role="application" aria-label=${this.label} @keydown=${this.press} @blur=${()=>this.tipped=!1}>
        <canvas aria-hidden="true"></canvas>
        ${this.renderTip()}
      </div>
      <regard-legend .scale=${this.scale} .label=${this.legendName()}></regard-legend>
      ${t===null?x:y`<p class="failure" role="status">${g(this.language,"unreachable",{why:t})}</p>`}
    `}};L.styles=[W,Li],v([M({attribute:!1})],L.prototype,"document",2),v([M({attribute:!1})],L.prototype,"bytes",2),v([M({attribute:!1})],L.prototype,"source",2),v([M({type:Number})],L.prototype,"map",2),v([M({attribute:!1})],L.prototype,"other",2),v([M({attribute:!1})],L.prototype,"window",2),v([M({attribute:!1})],L.prototype,"cursor",2),v([M({attribute:!1})],L.prototype,"pinned",2),v([M()],L.prototype,"reduce",2),v([M()],L.prototype,"colouring",2),v([M()],L.prototype,"language",2),v([M({attribute:!1})],L.prototype,"least",2),v([M()],L.prototype,"label",2),v([O()],L.prototype,"tipped",2),v([Y("canvas")],L.prototype,"canvas",2),v([Y(".stage")],L.prototype,"stage",2),v([Y(".tip")],L.prototype,"tip",2),L=v([q("regard-heatmap")],L);var ec=[[["\u2190","\u2191","\u2193","\u2192"],"help_arrows"],[["Home","End"],"help_ends"],[["+","\u2212","0"],"help_zoom"],[["Enter"],"help_enter"],[["[","]"],"help_heads"],[["m"],"help_pool"],[["l"],"help_log"],[["c"],"help_compare"],[["s"],"help_sort"],[["?"],"help_help"],[["Esc"],"help_escape"],["wheel","help_wheel"],["drag","help_drag"],["doubleClick","help_double"]],tc=["poolHint_mass","poolHint_max","statsHint","stripsHint","estimated","headsHint","notExplanation"],Ge=class extends C{constructor(){super(...arguments);this.language="en"}get open(){return this.dialog?.open??!1}show(){this.open||this.dialog.showModal()}render(){let t=r=>typeof r=="string"?g(this.language,r):r.map(o=>y`<kbd>${o}</kbd>`);return y`<dialog aria-labelledby="help-title">
      <div class="top">
        <h2 id="help-title">${g(this.language,"helpTitle")}</h2>
        <button type="button" @click=${()=>this.dialog.close()}>${g(this.language,"close")}</button>
      </div>
      <dl>
        ${ec.map(([r,o])=>y`<dt>${t(r)}</dt><dd>${g(this.language,o)}</dd>`)}
      </dl>
      ${tc.map(r=>y`<p>${g(this.language,r)}</p>`)}
    </dialog>`}};Ge.styles=[W,z`
      dialog {
        max-width: min(34rem, 92vw);
        max-height: 86vh;
        overflow: auto;
        border: 1px solid var(--line);
        border-radius: 12px;
        background: var(--panel);
        color: var(--ink);
        box-shadow: var(--shadow);
        padding: 18px 22px;
      }
      dialog::backdrop {
        background: rgb(10 14 22 / 45%);
      }
      .top {
        display: flex;
        justify-content: space-between;
        align-items: center;
        gap: 12px;
        margin-bottom: 10px;
      }
      h2 {
        font-size: 17px;
      }
      dl {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 7px 16px;
        margin: 0;
      }
      dt {
        white-space: nowrap;
      }
      dd {
        margin: 0;
      }
      kbd {
        font: 12px var(--mono);
        background: var(--sunken);
        border: 1px solid var(--line);
        border-radius: 5px;
        padding: 1px 6px;
        margin-right: 3px;
      }
      p {
        margin: 10px 0 0;
        color: var(--muted);
      }
    `],v([M()],Ge.prototype,"language",2),v([Y("dialog")],Ge.prototype,"dialog",2),Ge=v([q("regard-help")],Ge);var Pn=class{constructor(n,t){this.map=t;let r=s=>t.grids.find(l=>l.reduce===s),o=r("mass")??r("max"),i=r("max");this.rows=o?.rows??1,this.cols=o?.cols??1,this.every=o?.every??1,this.top=Hr(n,t),this.mass=o?Ze(n,o):new Float32Array(1);let a=i&&i.rows===this.rows&&i.cols===this.cols;this.largest=a?Ze(n,i):null,this.rounding=i?.type==="u1"?i.one/255:0,this.down=le(t.rows,this.rows),this.across=le(t.cols,this.cols),this.rowCell=zt(t.rows,this.rows),this.colCell=zt(t.cols,this.cols),this.spread=new Float32Array(this.mass.length),this.density=new Float32Array(this.mass.length),this.splitRest(o?.type==="u1"?o.one/255:0)}splitRest(n){let{rows:t,cols:r,map:o,top:i,down:a,across:s}=this,l=new Float32Array(t*r),c=new Float32Array(t*r);if(i)for(let d=0;d<o.rows*i.count;d+=1){let u=this.rowCell[Math.floor(d/i.count)]*r+this.colCell[Math.min(i.keys[d],o.cols-1)];l[u]+=i.weights[d],c[u]+=1}this.mass.forEach((d,u)=>{let f=Math.floor(u/r),h=u%r,p=Math.max(1,a[f+1]-a[f]),b=s[h+1]-s[h],m=d-l[u]/p;if(!(m>(i?n/2:0)&&b>0))return;let w=b-c[u]/p;this.spread[u]=m/b,this.density[u]=w>0?m/w:0})}weight(n,t){if(this.map.shape==="causal"&&this.map.rows===this.map.cols&&t>n)return 0;let{top:r}=this;if(!r)return null;for(let o=n*r.count;o<(n+1)*r.count;o+=1)if(r.keys[o]===t)return r.weights[o];return r.count>=this.map.cols?0:null}cell(n,t){let r=this.rowCell[n]*this.cols+this.colCell[t],o=this.largest?.[r]??null,a=[this.top?.weights[(n+1)*this.top.count-1],o===null?void 0:o+this.rounding/2].filter(s=>s!==void 0);return{mass:this.mass[r],max:o,below:a.length?Math.min(...a):null}}tile(n,t,r){let o=n.r1-n.r0,i=n.c1-n.c0,a=Ve(o,t),s=Ve(i,t),l=le(o,a),c=le(i,s),d=o/a<this.map.rows/this.rows||i/s<this.map.cols/this.cols,u=a===o&&s===i,f=new Float32Array(a*s);for(let p=0;p<a;p+=1){let b=f.subarray(p*s,(p+1)*s),m=n.r0+l[p],w=n.r0+l[p+1];r==="mass"?this.spreadMass(b,n.c0,c,m,w,u?this.density:this.spread):this.spreadMax(b,n.c0,c,m,w,d)}let h=new Uint8Array(a*s);return this.placeKnown(f,h,n,a,s,r),u&&this.forbid(f,h,n),d||h.fill(1),{window:n,rows:a,cols:s,values:f,known:h,every:this.every,largest:se(f)}}spreadMass(n,t,r,o,i,a){let s=this.averageRow(o,i,a),l=this.colCell[t];for(let c=0;c<n.length;c+=1){let d=t+r[c],u=t+r[c+1];for(;d<u;){for(;this.across[l+1]<=d;)l+=1;let f=Math.min(u,this.across[l+1]);n[c]+=s[l]*(f-d),d=f}}}averageRow(n,t,r){let o=this.rowCell[n],i=this.rowCell[t-1];if(o===i)return r.subarray(o*this.cols,(o+1)*this.cols);let a=this.down,s=new Float32Array(this.cols);for(let l=o;l<=i;l+=1){let c=(Math.min(t,a[l+1])-Math.max(n,a[l]))/(t-n);for(let d=0;d<this.cols;d+=1)s[d]+=c*r[l*this.cols+d]}return s}spreadMax(n,t,r,o,i,a){let s=a||!this.largest?this.density:this.largest,l=this.rowCell[i-1];for(let c=0;c<n.length;c+=1){let d=this.colCell[t+r[c+1]-1];for(let u=this.rowCell[o];u<=l;u+=1)for(let f=this.colCell[t+r[c]];f<=d;f+=1)n[c]=Math.max(n[c],s[u*this.cols+f])}}placeKnown(n,t,r,o,i,a){let{top:s}=this;if(!s)return;let l=r.r1-r.r0,c=r.c1-r.c0,d=o===l&&i===c,u=le(l,o);for(let f=r.r0;f<r.r1;f+=1){let h=K(f-r.r0,l,o),p=u[h+1]-u[h],b=s.weights[(f+1)*s.count-1];for(let m=h*i;d&&m<(h+1)*i;m+=1)n[m]=Math.min(n[m],b);for(let m=f*s.count;m<(f+1)*s.count;m+=1){let w=s.keys[m];if(w<r.c0||w>=r.c1)continue;let $=h*i+K(w-r.c0,c,i),S=s.weights[m];d?(n[$]=S,t[$]=1):a==="max"?n[$]=Math.max(n[$],S):n[$]+=S/p}}}forbid(n,t,{r0:r,r1:o,c0:i,c1:a}){if(!(this.map.shape!=="causal"||this.map.rows!==this.map.cols))for(let s=r;s<o;s+=1)for(let l=Math.max(i,s+1);l<a;l+=1){let c=(s-r)*(a-i)+l-i;n[c]=0,t[c]=1}}line(n,t){let{rows:r,cols:o}=this.map,i=n==="row"?{r0:t,r1:t+1,c0:0,c1:o}:{r0:0,r1:r,c0:t,c1:t+1},{values:a,known:s,every:l}=this.tile(i,Math.max(r,o),"max");return ut(a,s,l)}};var Ye=class{constructor(n){this.most=n;this.values=new Map}get(n){let t=this.values.get(n);return t!==void 0&&(this.values.delete(n),this.values.set(n,t)),t}set(n,t){return this.values.delete(n),this.values.set(n,t),this.values.size>this.most&&this.values.delete(this.values.keys().next().value),t}drop(n){this.values.delete(n)}},Ni=16,Ot=class{constructor(n,t){this.document=n;this.bytes=t;this.exact=new Ye(Ni);this.pooled=new Ye(Ni)}map(n){let t=this.document.maps[n];if(!t)throw new RangeError(`There are ${this.document.maps.length} maps; wanted number ${n}.`);return t}exactOf(n){let t=this.exact.get(n);if(t)return t;let r=this.map(n).grids.find(({reduce:o})=>o==="exact");return r?this.exact.set(n,Ze(this.bytes,r)):null}pooledOf(n){return this.pooled.get(n)??this.pooled.set(n,new Pn(this.bytes,this.map(n)))}preview(n,t,r,o){return this.tile(n,t,r,o)}thumbnail(n,t,r){let o=this.map(n),i=o.grids.find(s=>s.reduce===r)??o.grids[0];return i?{...pi(Ze(this.bytes,i),i,t,r),window:ee(o),every:i.every}:this.tile(n,ee(o),t,r)}tile(n,t,r,o){let i=this.map(n),a=Et(t,i),s=this.exactOf(n);return s?xr(s,i.cols,a,r,o):this.pooledOf(n).tile(a,r,o)}line(n,t,r){let{rows:o,cols:i}=this.map(n),a=this.exactOf(n);if(!a)return this.pooledOf(n).line(t,r);let s=t==="row"?a.slice(r*i,(r+1)*i):Float32Array.from({length:o},(l,c)=>a[c*i+r]);return ut(s,null,1)}reading(n,t,r){let o=this.exactOf(n);if(o)return{weight:o[t*this.map(n).cols+r],pooled:null};let i=this.pooledOf(n);return{weight:i.weight(t,r),pooled:i.cell(t,r)}}};var nc=827606866,Tr=16,Oi=512,rc=16384,Sr=64,oc=48,ic=4;function ac(e){let n=new DataView(e);if(e.byteLength<Tr||n.getInt32(0,!0)!==nc)throw new Error("The answer is not a tile.");let[t,r,o]=[4,8,12].map(i=>n.getInt32(i,!0));if(t<1||r<1||e.byteLength!==Tr+t*r*4)throw new Error("The tile is torn.");return{rows:t,cols:r,every:o,values:new Float32Array(e,Tr)}}function Di(e,n,t){let r=2**Math.max(0,Math.floor(Math.log2(Math.max(1,n-e)))-2);return[Math.max(0,Math.floor(e/r)*r),Math.min(t,Math.ceil(n/r)*r)]}function sc(e,n){let{r0:t,r1:r,c0:o,c1:i}=Et(e,n),[a,s]=Di(t,r,n.rows),[l,c]=Di(o,i,n.cols);return{r0:a,r1:s,c0:l,c1:c}}var Er=class{constructor(n,t,r){this.document=n;this.live=r;this.kept=new Ye(oc);this.exact=new Ye(ic);this.embedded=new Ot(n,t)}get(n,t){let r=Object.entries(t).map(([s,l])=>`${s}=${l}`),o=`${n}?${r.join("&")}`,i=this.kept.get(o);if(i)return i;let a=fetch(o,{credentials:"same-origin"}).then(async s=>{if(!s.ok)throw new Error((await s.text()).trim()||String(s.status));return ac(await s.arrayBuffer())});return a.catch(()=>this.kept.drop(o)),this.kept.set(o,a)}preview(n,t,r,o){return this.embedded.preview(n,t,r,o)}thumbnail(n,t,r){return this.embedded.thumbnail(n,t,r)}tile(n,t,r,o){let i=this.document.maps[n],a=this.close(n,Et(t,i));if(a)return a;let s=sc(t,i),l=Math.max(s.r1-s.r0,s.c1-s.c0),c=Math.max(Sr,Math.floor(Math.min(Oi,r)/Sr)*Sr);return this.rectangle(n,s,Ve(l,c),o)}close(n,t){let r=this.exact.get(n);return r?mi(r,t):null}async rectangle(n,t,r,o){let{r0:i,r1:a,c0:s,c1:l}=t,c=await this.get(this.live.tile,{map:n,r0:i,r1:a,c0:s,c1:l,cells:r,reduce:o}),d={window:t,known:null,largest:se(c.values),...c};return ke(d)&&d.values.length>1&&this.exact.set(n,d),d}async line(n,t,r){let{rows:o,cols:i}=this.document.maps[n],a=t==="row"?i:o,{values:s,every:l}=await this.get(this.live.line,{map:n,axis:t,at:r,cells:Math.min(a,rc)});if(s.length===a)return ut(s,null,l);let c=Sn(s,vr),d=await Promise.all(c.map(u=>this.peak(n,t,r,u,s.length,a)));return{values:s,known:null,places:a,every:l,peaks:d.sort((u,f)=>f.weight-u.weight)}}async peak(n,t,r,o,i,a){let s=Ct(o,a,i),l=Ct(o+1,a,i),c=t==="row"?{r0:r,r1:r+1,c0:s,c1:l}:{r0:s,r1:l,c0:r,c1:r+1},{values:d}=await this.rectangle(n,c,Oi,"max"),u=Sn(d,1)[0]??0;return{at:s+u,weight:d[u]}}reading(n,t,r){let o={r0:t,r1:t+1,c0:r,c1:r+1},i=this.close(n,o),a=({values:s})=>({weight:s[0],pooled:null});return i?a(i):this.rectangle(n,o,1,"max").then(a)}};function Ii(e,n){return e.live?new Er(e,n,e.live):new Ot(e,n)}var Bi={wide:40,high:20},lc=.02,qi=.4,Wi=56;function Fi(e,n,t,r,o){e.clearRect(0,0,n,r+t);let{picture:i,patches:a}=o;i&&(e.imageSmoothingEnabled=!1,e.drawImage(i,0,r,n,t)),a&&(cc(e,n,t,r,a,o),r>0&&uc(e,n,r,a,o),o.cursor!==null&&dc(e,n,t,r,a,o.cursor))}function cc(e,n,t,r,o,i){let{rows:a,cols:s,weights:l}=o,[c,d]=[n/s,t/a];for(let u=0;u<l.length;u+=1){let[f,h]=[Math.floor(u/s),u%s],[p,b]=[Math.round(h*c),Math.round((h+1)*c)],[m,w]=[Math.round(f*d),Math.round((f+1)*d)];e.globalAlpha=i.opacity*(qi+(1-qi)*$e(i.scale,l[u])),e.fillStyle=kn(Ue(i.scale,l[u])),e.fillRect(p,r+m,b-p,w-m)}if(e.globalAlpha=1,!(c<Bi.wide||d<Bi.high||a===1)){e.font=i.ink.font,e.textAlign="center",e.textBaseline="middle",e.lineJoin="round",e.lineWidth=3;for(let u=0;u<l.length;u+=1){if($e(i.scale,l[u])<lc)continue;let f=An(Ue(i.scale,l[u])),[h,p]=[(u%s+.5)*c,r+(Math.floor(u/s)+.5)*d],b=_(l[u],2);e.strokeStyle=f==="#000"?"rgb(255 255 255 / 70%)":"rgb(0 0 0 / 70%)",e.strokeText(b,h,p),e.fillStyle=f,e.fillText(b,h,p)}}}function uc(e,n,t,r,o){let{weights:i,most:a}=r,s=n/i.length;e.fillStyle=o.ink.text,e.beginPath(),e.moveTo(0,t-4);for(let l=0;l<i.length;l+=1){let c=t-4-(a>0?i[l]/a:0)*(t-12);e.lineTo(l*s,c),e.lineTo((l+1)*s,c)}e.lineTo(n,t-4),e.closePath(),e.globalAlpha=.75,e.fill(),e.globalAlpha=1}function dc(e,n,t,r,o,i){let[a,s]=[n/o.cols,t/o.rows],l=i%o.cols*a,c=r+Math.floor(i/o.cols)*s;e.lineWidth=3,e.strokeStyle="#000",e.strokeRect(l+.5,c+.5,a-1,s-1),e.lineWidth=1.5,e.strokeStyle="#fff",e.strokeRect(l+.5,c+.5,a-1,s-1)}function Hi(e,n){let{rows:t,cols:r,offset:o}=e,i=t*r;if(!(i>0)||o<0||o+i>n.length)return null;let a=n.subarray(o,o+i),s=0,l=0,c=0;for(let d=0;d<i;d+=1)l+=a[d],a[d]>a[s]&&(s=d);for(let d of n)c+=d;return{rows:t,cols:r,weights:a,most:a[s],at:s,outside:Math.max(0,c-l)}}function Ui(e,n,t,r){let o=Math.min(t/e,r/n);return[e*o,n*o]}function Vi(e,n,t,r,o){return r<0||o<0||r>=n||o>=t?null:Math.floor(o/t*e.rows)*e.cols+Math.floor(r/n*e.cols)}var fc={image:{en:"The picture, and over it where the query looks. Arrow keys walk the patches.",zh:"\u56FE\u50CF\uFF0C\u4EE5\u53CA\u67E5\u8BE2\u5728\u5176\u4E0A\u7684\u6CE8\u610F\u529B\u3002\u65B9\u5411\u952E\u79FB\u52A8\u56FE\u5757\u3002"},spectrogram:{en:"The spectrogram, and over it where the query listens. Arrow keys walk the frames.",zh:"\u58F0\u8C31\u56FE\uFF0C\u4EE5\u53CA\u67E5\u8BE2\u5728\u5176\u4E0A\u7684\u6CE8\u610F\u529B\u3002\u65B9\u5411\u952E\u79FB\u52A8\u5E27\u3002"},opacity:{en:"Opacity of the weights",zh:"\u6743\u91CD\u7684\u4E0D\u900F\u660E\u5EA6"},weight:{en:"weight",zh:"\u6743\u91CD"},patch:{en:"Patch in row {row}, column {col}: weight {weight}.",zh:"\u7B2C {row} \u884C\u7B2C {col} \u5217\u7684\u56FE\u5757\uFF1A\u6743\u91CD {weight}\u3002"},frame:{en:"Frame {col}: weight {weight}.",zh:"\u7B2C {col} \u5E27\uFF1A\u6743\u91CD {weight}\u3002"},most_image:{en:"The largest weight, {weight}, is on the patch in row {row}, column {col}.",zh:"\u6700\u5927\u7684\u6743\u91CD {weight} \u5728\u7B2C {row} \u884C\u7B2C {col} \u5217\u7684\u56FE\u5757\u4E0A\u3002"},most_spectrogram:{en:"The largest weight, {weight}, is on frame {col}.",zh:"\u6700\u5927\u7684\u6743\u91CD {weight} \u5728\u7B2C {col} \u5E27\u4E0A\u3002"},outside:{en:"{share} of the weight is on keys that are not in the picture.",zh:"\u6709 {share} \u7684\u6743\u91CD\u843D\u5728\u56FE\u50CF\u4E4B\u5916\u7684\u952E\u4E0A\u3002"},none:{en:"Choose a query to see where it looks.",zh:"\u9009\u62E9\u4E00\u4E2A\u67E5\u8BE2\uFF0C\u770B\u5B83\u5173\u6CE8\u54EA\u91CC\u3002"}};function Te(e,n,t={}){return fc[n][e].replace(/\{(\w+)\}/g,(r,o)=>Object.hasOwn(t,o)?String(t[o]):r)}var hc=460,oe=class extends C{constructor(){super(...arguments);this.backdrop=null;this.weights=null;this.language="en";this.opacity=.75;this.cursor=null;this.picture=null;this.patches=null;this.scale={kind:"weights",colouring:"linear",max:1};this.drawn=0;this.resized=new ResizeObserver(()=>this.redraw());this.dark=matchMedia("(prefers-color-scheme: dark)");this.redraw=()=>{cancelAnimationFrame(this.drawn),this.drawn=requestAnimationFrame(()=>this.paint())}}connectedCallback(){super.connectedCallback(),this.resized.observe(this),this.dark.addEventListener("change",this.redraw)}disconnectedCallback(){super.disconnectedCallback(),this.resized.disconnect(),this.dark.removeEventListener("change",this.redraw),cancelAnimationFrame(this.drawn)}willUpdate(t){t.has("backdrop")&&(this.picture=null,this.cursor=null,this.backdrop&&this.load(this.backdrop)),(t.has("backdrop")||t.has("weights"))&&(this.patches=this.backdrop&&this.weights?Hi(this.backdrop,this.weights):null,this.scale={kind:"weights",colouring:"linear",max:ct(this.patches?.most??1)})}async load(t){if(!t.image.startsWith("data:image/"))return;let r=new Image;r.src=t.image;try{await r.decode()}catch{return}this.backdrop===t&&(this.picture=r)}updated(){this.redraw()}get top(){return this.backdrop?.kind==="spectrogram"?Wi:0}paint(){let t=this.renderRoot.querySelector("canvas"),r=t?.getContext("2d"),{backdrop:o}=this;if(!t||!r||!o||this.clientWidth===0)return;let i=this.clientWidth,[a,s]=o.kind==="spectrogram"?[i,Math.min(260,Math.max(120,i/3))]:Ui(o.width,o.height,i,hc),[l,c]=[Math.round(a),Math.round(s)],d=devicePixelRatio||1;t.width=Math.round(l*d),t.height=Math.round((c+this.top)*d),t.style.width=`${l}px`,t.style.height=`${c+this.top}px`,r.setTransform(d,0,0,d,0,0);let u=getComputedStyle(this),f=h=>u.getPropertyValue(h).trim();Fi(r,l,c,this.top,{picture:this.picture,patches:this.patches,scale:this.scale,opacity:this.opacity,cursor:this.cursor,ink:{text:f("--ink"),muted:f("--muted"),panel:f("--panel"),font:`12px ${u.fontFamily}`}}),this.dataset.ready="true"}onPointer(t){let{patches:r}=this,o=t.currentTarget.getBoundingClientRect();if(!r)return;let i=t.clientY-o.top-this.top,a=t.clientX-o.left;this.cursor=Vi(r,o.width,o.height-this.top,a,Math.max(0,i))}onKey(t){let{patches:r}=this;if(!r||t.ctrlKey||t.metaKey||t.altKey)return;let o=this.cursor??r.at,[i,a]=[Math.floor(o/r.cols),o%r.cols],l={ArrowLeft:[i,a-1],ArrowRight:[i,a+1],ArrowUp:[i-1,a],ArrowDown:[i+1,a],Home:[i,0],End:[i,r.cols-1]}[t.key];if(t.key==="Escape"&&(this.cursor=null),!l)return;t.preventDefault(),t.stopPropagation();let c=(d,u)=>Math.min(Math.max(d,0),u-1);this.cursor=c(l[0],r.rows)*r.cols+c(l[1],r.cols)}said(){let{patches:t,backdrop:r,cursor:o,language:i}=this;if(!t||!r)return Te(i,"none");let a=l=>({row:Math.floor(l/t.cols)+1,col:l%t.cols+1,weight:_(t.weights[l])});if(o!==null)return Te(i,r.kind==="image"?"patch":"frame",a(o));let s=Te(i,`most_${r.kind}`,a(t.at));return t.outside<5e-4?s:`${s} ${Te(i,"outside",{share:Q(t.outside)})}`}render(){let{backdrop:t,language:r,patches:o}=this;return t?y`
      <div
        class="picture" role="application" tabindex="0" aria-label=${Te(r,t.kind)}
        aria-describedby="said" @pointermove=${this.onPointer} @pointerdown=${this.onPointer}
        @pointerleave=${()=>this.cursor=null} @keydown=${this.onKey}
      ><canvas></canvas></div>
      <div class="controls">
        <div>
          <label for="opacity">${Te(r,"opacity")}</label>
          <input
            id="opacity" type="range" min="0" max="100" .value=${String(Math.round(this.opacity*100))}
            @input=${i=>this.opacity=Number(i.target.value)/100}
          />
        </div>
        ${o?y`<regard-legend .scale=${this.scale} .label=${Te(r,"weight")}></regard-legend>`:x}
      </div>
      <p id="said" role="status" aria-live="polite">${this.said()}</p>
    `:x}};oe.styles=[W,z`
      :host {
        display: block;
      }
      .picture {
        position: relative;
        width: fit-content;
        max-width: 100%;
        margin: 0 auto;
        touch-action: none;
        cursor: crosshair;
      }
      canvas {
        display: block;
        border-radius: 4px;
      }
      .controls {
        display: flex;
        flex-wrap: wrap;
        gap: 6px 20px;
        align-items: end;
        margin-top: 10px;
      }
      label {
        display: block;
        font-size: 12px;
        color: var(--muted);
      }
      input {
        padding: 0;
        width: 160px;
        accent-color: var(--accent);
      }
      regard-legend {
        flex: 1 1 160px;
        max-width: 280px;
      }
      p {
        margin: 8px 0 0;
        min-height: 1.45em;
      }
    `],v([M({attribute:!1})],oe.prototype,"backdrop",2),v([M({attribute:!1})],oe.prototype,"weights",2),v([M({attribute:!1})],oe.prototype,"language",2),v([M({attribute:!1})],oe.prototype,"opacity",2),v([O()],oe.prototype,"cursor",2),v([O()],oe.prototype,"picture",2),oe=v([q("regard-overlay")],oe);var mc=3,pc=.01;function Ki(e,n,t,r,o){let i=Nt(_e(n,t.row_tokens,r)),[a,...s]=o.peaks.slice(0,mc).filter(({weight:c},d)=>d===0||c>=pc);if(!a)return g(e,"looksNowhere",{query:i});let l=c=>Nt(_e(n,t.col_tokens,c));return[g(e,"sentenceOne",{query:i,first:Q(a.weight),key:l(a.at)}),...s.map(({at:c,weight:d})=>g(e,"sentenceMore",{share:Q(d),key:l(c)})),g(e,"sentenceEnd")].join("")}function ji(e,{shape:n,rows:t,cols:r}){return g(e,`shape_${n}`,{rows:re(t,e),cols:re(r,e)})}function Gi(e,{layers:n},t){let{name:r,label:o}=n[t.layer]??{name:""};return ji(e,t)+(!o&&r.includes(".")?` (${r})`:"")}function Yi({backdrop:e},{stats:n}){return e&&n.entropy!==void 0?{entropy:n.entropy}:n}function Dt(e,{stats:n,grids:t}){let r=[],{entropy:o,distance:i,diagonality:a,first:s}=n,l=d=>typeof d=="number"&&Number.isFinite(d);return l(o)&&r.push({name:g(e,"stat_entropy"),value:g(e,"nats",{value:_(o)})}),l(i)&&r.push({name:g(e,"stat_distance"),value:g(e,"places",{value:_(i)})}),l(a)&&r.push({name:g(e,"stat_diagonality"),value:Q(a)}),l(s)&&r.push({name:g(e,"stat_first"),value:Q(s)}),t.some(({every:d})=>d>1)?r.map(({name:d,value:u})=>({name:d,value:`\u2248 ${u}`})):r}function Xi(e,n,t,r){let o={count:n.maps.length,layers:new Set(n.maps.map(({layer:l})=>l)).size},i={rows:re(t.rows,e),cols:re(t.cols,e)},a=Dt(e,t).map(({name:l,value:c})=>`${l}: ${c}`),s=e==="zh"?"\uFF0C":", ";return[g(e,"summaryText",{...o,...i,head:r}),ji(e,t),a.length?a.join(s)+g(e,"sentenceEnd"):""].join(" ").trim()}var bc=50,gc=250,yc=130,zn=class{constructor(n,t){this.of=n;this.changed=t;this.cell=null;this.look=null;this.said="";this.lines=new ue}stop(){clearTimeout(this.pause),clearTimeout(this.rest),this.lines.drop()}begin(n){this.cell=n,this.hear()}follow(n){clearTimeout(this.pause),this.pause=setTimeout(()=>{let{pinned:t,cursor:r}=this.of().view,o=t??r,i=o!==null&&(o.row!==this.cell?.row||o.col!==this.cell.col);i&&(this.cell=o),(i||n)&&this.hear()},this.of().document.live?gc:bc)}hear(){let{document:n,source:t,view:r}=this.of(),o=n.maps[r.map];if(!o||n.live&&!this.cell)return;let i=Math.min(o.rows-1,this.cell?.row??Math.floor(o.rows/2));this.lines.ask(()=>t.line(r.map,"row",i),a=>{r.map===this.of().view.map&&(this.look=a,this.cell??={row:i,col:a.peaks[0]?.at??0},clearTimeout(this.rest),this.rest=setTimeout(()=>{this.speak(i,a)},yc),this.changed())},()=>{this.look=null,this.changed()})}async speak(n,t){let{document:r,language:o,view:i}=this.of(),a=Ki(o,r,r.maps[i.map],n,t),s=i.cursor?` ${await this.here(i.cursor)}`:"";i.cursor===this.of().view.cursor&&(this.said=a+s,this.changed())}async here(n){let{language:t,view:r}=this.of(),o=await this.weightAt(n).catch(()=>null),i=r.other===null?"here":"hereDifference";return o===null?g(t,"hereUnknown"):g(t,i,{weight:_(o,4)})}async weightAt({row:n,col:t}){let{document:r,source:o,view:i}=this.of(),{weight:a}=await o.reading(i.map,n,t);if(i.other===null||a===null)return a;let s=r.maps[i.other];if(n>=s.rows||t>=s.cols)return null;let{weight:l}=await o.reading(i.other,n,t);return l===null?null:a-l}};var wc=700,Qi=8;function Zi(e,n,t){if(e<=wc)return[{from:0,to:e}];let r=[...n,...t===null?[]:[t]].sort((i,a)=>i-a),o=[];for(let i of r){let a=Math.max(0,i-Qi),s=Math.min(e,i+Qi+1),l=o.at(-1);l&&a<=l.to?l.to=Math.max(l.to,s):o.push({from:a,to:s})}return o}var Ji=new WeakMap;function ea(e){let n=Ji.get(e);if(n)return n;let t=new Set,r=new Set(e.filter(o=>t.size===t.add(o).size));return Ji.set(e,r),r}function ta(e){let n=Math.max(e.peaks[0]?.weight??0,1e-12),t=new Map(e.peaks.map(({at:r,weight:o})=>[r,o]));return r=>{let o=t.get(r)??e.values[K(r,e.places,e.values.length)]??0;return e.values.length<e.places&&!t.has(r)?0:Math.min(1,Math.max(0,o/n))}}var vc=.02,j=class extends C{constructor(){super(...arguments);this.map=0;this.cell=null;this.pinned=!1;this.language="en";this.looks=null;this.looked=null;this.questions={row:new ue,col:new ue};this.typed=(t,r)=>{let o=r.target.valueAsNumber,i=t==="row"?this.data.rows:this.data.cols;if(!Number.isInteger(o)||o<0||o>=i)return;let a={row:this.cell?.row??0,col:this.cell?.col??0,[t]:o};this.dispatchEvent(new CustomEvent("regard-pick",{detail:{cell:a},bubbles:!0,composed:!0}))}}get data(){return this.document.maps[this.map]}willUpdate(t){let r=t.get("cell"),o=t.has("map")||t.has("source");(o||t.has("cell")&&r?.row!==this.cell?.row)&&this.ask("row"),(o||t.has("cell")&&r?.col!==this.cell?.col)&&this.ask("col")}ask(t){let{cell:r,map:o,source:i}=this,a=l=>{t==="row"?this.looks=l:this.looked=l};if(!r){this.questions[t].drop(),a(null);return}let s=t==="row"?r.row:r.col;this.questions[t].ask(()=>i.line(o,t,s),l=>{o===this.map&&s===(t==="row"?this.cell?.row:this.cell?.col)&&a(l)},()=>a(null))}updated(t){(t.has("looks")||t.has("looked"))&&this.scrollTexts(),this.style.setProperty("--digits",String(Math.max(3,String(Math.max(this.data.rows,this.data.cols)).length))),this.dataset.row=this.cell?String(this.cell.row):"",this.dataset.col=this.cell?String(this.cell.col):"",this.dataset.ready=String(this.cell===null||this.looks!==null&&this.looked!==null)}scrollTexts(){for(let t of this.renderRoot.querySelectorAll(".text")){let r=t.querySelector(".strongest");r&&(t.scrollTop=r.offsetTop-t.offsetTop-t.clientHeight/2)}}name(t,r){return _e(this.document,t==="row"?this.data.row_tokens:this.data.col_tokens,r)}isRepeated(t,r){let o=this.document.tokens[(t==="row"?this.data.row_tokens:this.data.col_tokens)??-1];return o!==void 0&&ea(o).has(this.name(t,r))}pick(t,r){let{cell:o,data:i}=this,a=i.shape!=="cross"&&i.rows===i.cols,s=t==="row"||a?r:o?.row??0,l=t==="col"||a?r:o?.col??0;this.dispatchEvent(new CustomEvent("regard-pick",{detail:{cell:{row:s,col:l}},bubbles:!0,composed:!0}))}renderText(t,r,o){let i=ta(t),a=Zi(t.places,t.peaks.map(({at:u})=>u),o),s=u=>{let f=i(u),h=f<vc?"transparent":`color-mix(in srgb, var(--mark) ${Math.round(f*100)}%, transparent)`,p=`${u===o?"self ":""}${u===t.peaks[0]?.at?"strongest":""}`;return y`<span data-at=${u} class=${p} ${Ae({background:h})}>${this.name(r,u)}</span> `},l=u=>{let f=u.target.dataset.at;f!==void 0&&this.pick(r,Number(f))},c=({from:u,to:f})=>Array.from({length:f-u},(h,p)=>s(u+p)),d=u=>t.places<=a.reduce((f,{from:h,to:p})=>f+p-h,0)||u<0?x:"\u2026 ";return y`<div class="text" tabindex="0" role="group" aria-label=${g(this.language,"token")} @click=${l}>
      ${a.map((u,f)=>[d(f),...c(u)])}${d(0)}
    </div>`}isPicture(t){return t==="col"&&this.document.backdrop!==null}renderPeaks(t,r){return t.peaks.length===0?y`<p class="muted">${g(this.language,"nothing")}</p>`:y`<ol>
      ${t.peaks.map(({at:o,weight:i})=>y`<li>
          <button type="button" data-at=${o} data-weight=${i} title="${this.name(r,o)} (${o}): ${_(i,5)}" @click=${()=>this.pick(r,o)}>
            <span class="number">${Q(i)}</span>
            <span class="word">${this.name(r,o)}${this.isRepeated(r,o)?y` <small>${o}</small>`:x}</span>
            <span class="track"><span class="fill" ${Ae({display:"block",width:`${Math.min(100,i/t.peaks[0].weight*100)}%`})}></span></span>
          </button>
        </li>`)}
    </ol>`}renderLine(t,r,o,i,a){let s=g(this.language,t==="looks"?"looksAt":"lookedAt",{token:Nt(i)}),l=r?.known?.includes(0)??!1;return y`<section class=${t} aria-label=${s}>
      <h3>${s}</h3>
      ${r?nt([r,o,a,this.language,this.document],()=>y`${this.isPicture(o)?x:this.renderText(r,o,a)}${this.renderPeaks(r,o)}`):y`<p class="muted">${g(this.language,"reading")}</p>`}
      ${r&&r.every>1?y`<p class="muted">${g(this.language,"sampledLine",{every:r.every})}</p>`:x}
      ${l?y`<p class="muted">${g(this.language,"unknownLine",{count:this.data.top?.count??0})}</p>`:x}
    </section>`}render(){let{cell:t,data:r,language:o}=this,i=r.shape!=="cross";return y`
      <h2>${g(o,"token")}${this.pinned?y` <span class="muted">(${g(o,"pinned")})</span>`:x}</h2>
      <div class="pick">
        <label>${g(o,"queryNumber")}
          <input type="number" name="row" min="0" max=${r.rows-1} .value=${t?String(t.row):""} @change=${a=>this.typed("row",a)} />
        </label>
        <label>${g(o,"keyNumber")}
          <input type="number" name="col" min="0" max=${r.cols-1} .value=${t?String(t.col):""} @change=${a=>this.typed("col",a)} />
        </label>
      </div>
      ${t?y`<div class="lines">${this.renderLine("looks",this.looks,"col",this.name("row",t.row),i?t.row:null)}
          ${this.renderLine("looked",this.looked,"row",this.name("col",t.col),i?t.col:null)}</div>`:y`<p class="muted">${g(o,"pickHint")}</p>`}
    `}};j.styles=[W,z`
      :host {
        display: flex;
        flex-direction: column;
        gap: 12px;
        min-height: 0;
      }
      h2 {
        font-size: 15px;
      }
      h3 {
        font-size: 14px;
        overflow-wrap: anywhere;
      }
      .pick {
        display: flex;
        flex-wrap: wrap;
        gap: 6px 12px;
        align-items: center;
      }
      .pick label {
        display: flex;
        font-size: 13px;
        gap: 6px;
        align-items: center;
        color: var(--muted);
      }
      .pick input {
        width: calc(var(--digits, 3) * 1ch + 3.4em);
        color: var(--ink);
      }
      .lines {
        display: grid;
        gap: 14px 24px;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
        align-items: start;
      }
      section {
        min-width: 0;
        display: flex;
        flex-direction: column;
        gap: 6px;
      }
      .text {
        max-height: 13em;
        overflow: auto;
        border-radius: 8px;
        background: var(--sunken);
        padding: 8px 10px;
        line-height: 1.75;
        overflow-wrap: anywhere;
      }
      .text span {
        border-radius: 3px;
        padding: 1px 2px;
        cursor: pointer;
        unicode-bidi: isolate;
        white-space: pre-wrap;
      }
      .text span:hover {
        box-shadow: 0 0 0 1px var(--muted);
      }
      .text .self {
        box-shadow: 0 0 0 2px var(--accent);
      }
      ol {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        gap: 1px;
      }
      li button {
        display: grid;
        grid-template-columns: 4.2em minmax(0, 1fr) 28%;
        gap: 8px;
        align-items: center;
        width: 100%;
        text-align: left;
        border: 0;
        border-radius: 5px;
        background: none;
        padding: 2px 4px;
        min-height: 24px;
      }
      li button:hover {
        background: var(--sunken);
      }
      .number {
        text-align: right;
        font-variant-numeric: tabular-nums;
      }
      .word {
        unicode-bidi: isolate;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: pre;
      }
      .word small {
        color: var(--muted);
      }
      .track {
        height: 8px;
        border-radius: 4px;
        background: var(--sunken);
        overflow: hidden;
      }
      .fill {
        height: 100%;
        background: var(--bar);
      }
      p {
        margin: 0;
        font-size: 13px;
      }
    `],v([M({attribute:!1})],j.prototype,"document",2),v([M({attribute:!1})],j.prototype,"source",2),v([M({type:Number})],j.prototype,"map",2),v([M({attribute:!1})],j.prototype,"cell",2),v([M({type:Boolean})],j.prototype,"pinned",2),v([M()],j.prototype,"language",2),v([O()],j.prototype,"looks",2),v([O()],j.prototype,"looked",2),j=v([q("regard-tokens")],j);function oa(e,n,t,r){let o=i=>t(i.target.value);return y`<header>
    <h1>${n}</h1>
    <div class="tools">
      <select aria-label=${g(e,"language")} name="language" @change=${o}>
        <option value="en" ?selected=${e==="en"}>English</option>
        <option value="zh" ?selected=${e==="zh"}>中文</option>
      </select>
      <button type="button" class="help" @click=${r}>${g(e,"help")} <span aria-hidden="true">(?)</span></button>
    </div>
  </header>`}function ia(e,n){return n.length===0?x:y`<ul class="notes" aria-label=${g(e,"notes")}>
    ${n.map(t=>y`<li>${t[e]||t.en}</li>`)}
  </ul>`}function na(e,n,t,r){return y`<label>${e}
    <select @change=${o=>r(Number(o.target.value))}>
      ${nt([n,t],()=>n.map((o,i)=>y`<option value=${i} ?selected=${i===t}>${o}</option>`))}
    </select>
  </label>`}function ra(e,n,t,r){return y`<div class="group" role="group" aria-label=${e}><span aria-hidden="true">${e}</span>
    <span class="both">${n.map(([o,i,a])=>y`<button type="button" data-value=${o} aria-pressed=${o===t} title=${a??x}
        @click=${()=>r(o)}>${i}</button>`)}</span>
  </div>`}function xc(e,n,t,r){if(n.other===null)return x;let o=g(e,"swap");return y`${na(g(e,"compareA"),t,n.map,r.select)}
    ${na(g(e,"compareB"),t,n.other,r.compare)}
    <button type="button" class="swap" @click=${r.swap} aria-label=${o} title=${o}>⇄</button>`}function aa(e,n,t,r){let{reduce:o,colouring:i}=n,[a,s]=[g(e,"zoomIn"),g(e,"zoomOut")];return y`<div class="bar">
    ${xc(e,n,t,r)}
    ${t.length>1?y`<button type="button" class="compare" aria-pressed=${n.other!==null} @click=${r.toggleCompare}>
          ${g(e,n.other===null?"compare":"stopComparing")}</button>`:x}
    ${ra(g(e,"pooling"),[["mass",g(e,"pool_mass"),g(e,"poolHint_mass")],["max",g(e,"pool_max"),g(e,"poolHint_max")]],o,l=>r.change({reduce:l}))}
    ${ra(g(e,"colour"),[["linear",g(e,"colour_linear")],["log",g(e,"colour_log")]],i,l=>r.change({colouring:l}))}
    <span class="both">
      <button type="button" class="zoom-out" aria-label=${s} title=${s} @click=${()=>r.zoom("-")}>−</button>
      <button type="button" class="zoom-whole" ?disabled=${n.window===null} @click=${()=>r.zoom("0")}>${g(e,"whole")}</button>
      <button type="button" class="zoom-in" aria-label=${a} title=${a} @click=${()=>r.zoom("+")}>+</button>
    </span>
  </div>`}var J=class extends C{constructor(){super(...arguments);this.view=an;this.least={};this.every=1;this.previous=null;this.titles=[];this.telling=new zn(()=>({document:this.document,source:this.source,view:this.view,language:this.language}),()=>this.requestUpdate());this.address=new ln(t=>this.arrive(t));this.key=t=>{if(t.defaultPrevented||t.ctrlKey||t.altKey||t.metaKey||this.help.open)return;let r=t.composedPath()[0];if(r instanceof HTMLElement&&r.matches("input, select, textarea"))return;let{view:o}=this,i={"[":()=>this.step(-1),"]":()=>this.step(1),m:()=>this.change({reduce:o.reduce==="mass"?"max":"mass"}),l:()=>this.change({colouring:o.colouring==="linear"?"log":"linear"}),c:()=>this.toggleCompare(),s:()=>this.change({sort:Ie[(Ie.indexOf(o.sort)+1)%Ie.length]}),"?":()=>this.help.show(),Escape:()=>this.leave()};Object.hasOwn(i,t.key)?(t.preventDefault(),i[t.key]()):(r===document.body||r===document.documentElement)&&this.heatmap?.press(t)}}connectedCallback(){super.connectedCallback(),this.address.listen(),globalThis.addEventListener("keydown",this.key)}disconnectedCallback(){super.disconnectedCallback(),this.address.stop(),globalThis.removeEventListener("keydown",this.key),this.telling.stop()}get map(){return this.document.maps[this.view.map]}get language(){return Rt(this.view.language,this.document.language,navigator.languages??[])}willUpdate(t){t.has("document")&&(this.source=Ii(this.document,this.bytes),this.arrive(globalThis.location?.hash??""));let r=t.get("view");(t.has("document")||r?.language!==this.view.language)&&(this.titles=dt(this.language,this.document))}arrive(t){this.view=yo(t,this.document.maps),this.telling.begin(this.view.pinned??this.view.cursor)}change(t){this.view={...this.view,...t},this.address.write(this.view),this.telling.follow("map"in t||"other"in t||"language"in t)}select(t){if(t===this.view.map)return;this.previous=this.view.map;let r=this.document.maps[t],o=r.rows===this.map.rows&&r.cols===this.map.cols;o||(this.telling.cell=null),this.least={},this.change(o?{map:t}:{map:t,window:null,cursor:null,pinned:null})}compare(t){this.least={},this.change({other:t})}toggleCompare(){if(this.view.other!==null){this.compare(null);return}let t=Tt(this.document.maps,this.view.sort),r=t.indexOf(this.view.map),o=this.previous!==null&&this.previous!==this.view.map?this.previous:null,i=uo(this.document,this.view.map)??o??t[r+1]??t[r-1];i!==void 0&&this.compare(i)}step(t){let r=Tt(this.document.maps,this.view.sort),o=r.indexOf(this.view.map)+t;r[o]!==void 0&&this.select(r[o])}pin(t){let{pinned:r}=this.view,o=t&&r&&t.row===r.row&&t.col===r.col;this.change({pinned:o?null:t})}leave(){this.view.pinned?this.change({pinned:null}):this.view.other!==null?this.compare(null):this.view.window?this.change({window:null}):this.change({cursor:null})}headTitle(t){return this.titles[t]??""}updated(){this.toggleAttribute("comparing",this.view.other!==null),this.dataset.map=String(this.view.map),this.dataset.other=this.view.other===null?"":String(this.view.other),this.dataset.reduce=this.view.reduce,this.dataset.colouring=this.view.colouring,this.dataset.sort=this.view.sort,this.dataset.language=this.language,this.dataset.ready="true",document.documentElement.lang=this.language==="zh"?"zh-CN":"en"}renderTop(){let{document:t,language:r}=this;return y`
      ${oa(r,t.title||g(r,"map"),o=>this.change({language:o}),()=>this.help.show())}
      ${ia(r,t.notes)}
    `}renderBar(){let{language:t,view:r}=this,o=i=>this.heatmap.press(new KeyboardEvent("keydown",{key:i,cancelable:!0}));return aa(t,r,this.titles,{select:i=>this.select(i),compare:i=>this.compare(i),swap:()=>this.change({map:r.other,other:r.map}),toggleCompare:()=>this.toggleCompare(),change:i=>this.change(i),zoom:o})}renderMap(t,r,o,i){let{view:a}=this,s=this.document.maps[t],l=s.rows===this.map.rows&&s.cols===this.map.cols,c=u=>u&&u.row<s.rows&&u.col<s.cols?u:null,d=a.other===null||r!==null?0:Math.max(0,...Object.values(this.least));return y`<figure>
      ${o?y`<figcaption>${o}</figcaption>`:x}
      <regard-heatmap
        class=${r===null?t===a.map?"first":"second":"difference"}
        .document=${this.document} .bytes=${this.bytes} .source=${this.source} .map=${t} .other=${r}
        .window=${a.window&&!l?or(a.window,this.map,s):a.window}
        .cursor=${c(a.cursor)} .pinned=${c(a.pinned)} .reduce=${a.reduce} .colouring=${a.colouring}
        .language=${this.language} .least=${d} .label=${i}
        @regard-window=${u=>this.moved(u.detail.window,s)}
        @regard-cursor=${u=>this.change({cursor:u.detail.cell})}
        @regard-pin=${u=>this.pin(u.detail.cell)}
        @regard-tile=${u=>this.tiled(u.detail)}
      ></regard-heatmap>
    </figure>`}moved(t,r){let o=or(t,r,this.map),i=ee(this.map),a=o.r0<=0&&o.c0<=0&&o.r1>=i.r1&&o.c1>=i.c1;this.change({window:a?null:o})}tiled({map:t,largest:r,every:o}){this.least[t]!==r&&(this.least={...this.least,[t]:r}),t===this.view.map&&(this.every=o)}renderMaps(){let{view:t,language:r}=this,o=d=>{let{rows:u,cols:f}=this.document.maps[d];return g(r,"mapLabel",{head:this.headTitle(d),rows:re(u,r),cols:re(f,r)})};if(t.other===null)return y`<div class="maps">${this.renderMap(t.map,null,x,o(t.map))}</div>`;let i=this.map,a=this.document.maps[t.other],s=({rows:d,cols:u})=>`${re(d,r)} \xD7 ${re(u,r)}`,l=i.rows===a.rows&&i.cols===a.cols,c={a:this.headTitle(t.map),b:this.headTitle(t.other)};return y`<div class="maps ${l?"three":"two"}">
        ${this.renderMap(t.map,null,y`<b>A</b> ${c.a}`,o(t.map))}
        ${this.renderMap(t.other,null,y`<b>B</b> ${c.b}`,o(t.other))}
        ${l?this.renderMap(t.map,t.other,y`<b>A − B</b>`,g(r,"differenceLabel",c)):x}
      </div>
      ${l?x:y`<p class="small">${g(r,"noDifference",{a:s(i),b:s(a)})}</p>`}`}renderView(){let{language:t,map:r,view:o}=this,i=this.headTitle(o.map),a=Gi(t,this.document,r);return y`<section class="panel view" aria-labelledby="view-title">
      <div class="title">
        <h2 id="view-title" title=${this.document.layers[r.layer]?.name??""}>${i}</h2>
        <dl class="stats">
          ${Dt(t,{...r,stats:Yi(this.document,r)}).map(({name:s,value:l})=>y`<div><dt>${s}</dt><dd>${l}</dd></div>`)}
        </dl>
      </div>
      ${this.renderBar()} ${this.renderMaps()}
      <p class="said" role="status" aria-live="polite">${this.telling.said}</p>
      <p class="small one" title=${a}>${this.every>1?g(t,this.document.live?"sampled":"sampledPage",{every:re(this.every,t)}):a}</p>
      <p class="hidden">${Xi(t,this.document,r,i)}</p>
    </section>`}renderSide(){let{backdrop:t}=this.document,{map:r,view:o}=this,{cell:i,look:a}=this.telling,s=a&&a.values.length===r.cols?a.values:null;return y`<section class="panel side" aria-label=${g(this.language,"token")}>
      ${t?y`<regard-overlay .backdrop=${t} .weights=${s} .language=${this.language}></regard-overlay>`:x}
      <regard-tokens .document=${this.document} .source=${this.source} .map=${o.map} .cell=${i}
        .pinned=${o.pinned!==null} .language=${this.language}
        @regard-pick=${l=>this.pick(l.detail.cell)}></regard-tokens>
    </section>`}pick(t){let r=this.view.window?St(this.view.window,this.map,t):null;this.change({cursor:t,pinned:this.view.pinned?t:null,window:r})}render(){let{view:t}=this;if(this.document.maps.length===0)return y`${this.renderTop()}`;let r=this.document.maps.length===1;return y`
      ${this.renderTop()}
      <main class=${r?"alone":""}>
        ${r?x:y`<regard-heads class="panel" .document=${this.document} .source=${this.source} .selected=${t.map} .other=${t.other}
              .sort=${t.sort} .reduce=${t.reduce} .colouring=${t.colouring} .language=${this.language}
              @regard-sort=${o=>this.change({sort:o.detail.sort})}
              @regard-head=${o=>o.detail.compare?this.compare(o.detail.map):this.select(o.detail.map)}></regard-heads>`}
        ${this.renderView()} ${this.renderSide()}
      </main>
      <regard-help .language=${this.language}></regard-help>
    `}};J.styles=[W,wo],v([M({attribute:!1})],J.prototype,"document",2),v([M({attribute:!1})],J.prototype,"bytes",2),v([O()],J.prototype,"view",2),v([O()],J.prototype,"least",2),v([O()],J.prototype,"every",2),v([Y("regard-heatmap")],J.prototype,"heatmap",2),v([Y("regard-help")],J.prototype,"help",2),J=v([q("regard-attention")],J);var sa=Math.sqrt(3),la=Math.sqrt(5);function ht(e,n){let t=r=>Math.abs(r)<1?n(Math.abs(r)):0;return{name:e,edge:1,direct:t,score:r=>Math.log(t(r))}}var da={name:"laplacian",edge:1/0,score:e=>-Math.abs(e)},fa=[{name:"gaussian",edge:1/0,score:e=>-.5*e*e},da,{name:"cauchy",edge:1/0,direct:e=>1/(1+e*e),score:e=>-Math.log1p(e*e)},{name:"matern32",edge:1/0,score:e=>Math.log1p(sa*Math.abs(e))-sa*Math.abs(e)},{name:"matern52",edge:1/0,score:e=>Math.log1p(la*Math.abs(e)+5/3*e*e)-la*Math.abs(e)},{name:"boxcar",edge:1,direct:e=>Math.abs(e)<=1?1:0,score:e=>Math.abs(e)<=1?0:-1/0},ht("triangular",e=>1-e),ht("epanechnikov",e=>1-e*e),ht("biweight",e=>(1-e*e)*(1-e*e)),ht("triweight",e=>(1-e*e)*(1-e*e)*(1-e*e)),ht("tricube",e=>{let n=1-e*e*e;return n*n*n}),ht("cosine",e=>Math.cos(Math.PI/2*e))],Rn=new Map([...fa.map(e=>[e.name,e]),["laplace",da]]),Nn=fa.map(e=>e.name);function Cr(e,n){let t=Math.min(e.length,n.length),r=Array.from({length:t},(o,i)=>i).filter(o=>Number.isFinite(e[o])&&Number.isFinite(n[o])).sort((o,i)=>e[o]-e[i]);return{x:Float64Array.from(r,o=>e[o]),y:Float64Array.from(r,o=>n[o])}}function It(e,n){let t=0,r=e.length;for(;t<r;){let o=t+r>>1;e[o]<n?t=o+1:r=o}return t}function ha(e,n){let t=Math.min(Math.max(It(e,n),1),e.length-1);return e.length<2?0:n-e[t-1]<=e[t]-n?t-1:t}function ma(e,n,t,r){let{x:o,y:i}=e,a=new Float64Array(o.length),s=-1/0;for(let u=0;u<o.length;u+=1){let f=r.score((n-o[u])/t);a[u]=f,f>s&&(s=f)}let l=new Float64Array(o.length);if(o.length===0)return{scores:a,weights:l,prediction:NaN,alone:!1};if(s===-1/0){let u=ha(o,n);return l[u]=1,{scores:a,weights:l,prediction:i[u],alone:!0}}let c=0;for(let u=0;u<o.length;u+=1){let f=Math.exp(a[u]-s);l[u]=f,c+=f}let d=0;for(let u=0;u<o.length;u+=1)l[u]/=c,d+=l[u]*i[u];return{scores:a,weights:l,prediction:d,alone:!1}}var ca=8.6;function Lr(e,n,t,r,o=-1){let{x:i,y:a}=e,s=i.length;if(s===0||s===1&&o===0)return NaN;let l=Mc(i,n,o),c=0,d=s,u=Math.abs(n-i[l])/t;if(r.edge<1/0)c=It(i,n-r.edge*t),d=It(i,ua(n+r.edge*t));else if(r.name==="gaussian"){let m=Math.sqrt(ca*ca+u*u)*t;c=It(i,n-m),d=It(i,ua(n+m))}let f=r.score(u);if(f===-1/0)return a[l];let h=0,p=0,{direct:b}=r;if(b){for(let m=c;m<d;m+=1){if(m===o)continue;let w=b((n-i[m])/t);h+=w,p+=w*a[m]}return h>0?p/h:a[l]}for(let m=c;m<d;m+=1){if(m===o)continue;let w=Math.exp(r.score((n-i[m])/t)-f);h+=w,p+=w*a[m]}return h>0?p/h:a[l]}function ua(e){return e+Math.abs(e)*2e-16+5e-324}function Mc(e,n,t){return t<0?ha(e,n):t===0?1:t===e.length-1||n-e[t-1]<=e[t+1]-n?t-1:t+1}function pa(e,n,t,r=1){let o=0,i=0;for(let a=0;a<e.x.length;a+=r){let s=e.y[a]-Lr(e,e.x[a],n,t,a);o+=s*s,i+=1}return o/i}function ba(e){let n=0;for(let t of e)t>0&&(n-=t*Math.log(t));return Math.exp(n)}function On(e,n){let t=[];for(let r=0;r<e.length;r+=1){let o=e[r];if(o<=0||t.length===n&&o<=e[t[n-1]])continue;let i=t.length;for(;i>0&&e[t[i-1]]<o;)i-=1;t.splice(i,0,r),t.length>n&&t.pop()}return t}function ga(e){if(e===null||!/^-?\d{1,15}(\.\d{1,15})?(e-?\d{1,3})?$/.test(e))return null;let n=Number(e);return Number.isFinite(n)?n:null}function ya(e){let n=new URLSearchParams(e.replace(/^#/,"")),t=ga(n.get("w")),r=n.get("kernel"),o=n.get("lang");return{query:ga(n.get("x")),width:t!==null&&t>0?t:null,kernel:r!==null&&Nn.includes(r)?r:null,language:o==="en"||o==="zh"?o:null}}function wa(e,n,t,r,o,i){let a=new URLSearchParams(e.replace(/^#/,""));return i&&a.set("lang",o),a.set("x",String(Number(n.toPrecision(6)))),a.set("w",String(Number(t.toPrecision(6)))),a.set("kernel",r),a.toString()}function va(e){let n=e?.getContext("2d");if(!e||!n)return null;let t=e.clientWidth,r=e.clientHeight;if(t===0||r===0)return null;let o=devicePixelRatio||1;return(e.width!==Math.round(t*o)||e.height!==Math.round(r*o))&&(e.width=Math.round(t*o),e.height=Math.round(r*o)),n.setTransform(o,0,0,o,0,0),{context:n,wide:t,high:r}}function xa(e){let n=getComputedStyle(e),t=r=>n.getPropertyValue(r).trim();return{text:t("--ink"),faint:t("--muted"),grid:t("--line"),paper:t("--panel"),curve:t("--accent"),query:t("--query"),font:`13px ${n.fontFamily}`}}function R(e,n=3){if(!Number.isFinite(e))return e>0?"\u221E":e<0?"\u2212\u221E":"\u2013";let t=Number(e.toPrecision(n)),r=Math.abs(t);return(r!==0&&(r<1e-4||r>=1e6)?t.toExponential():String(t)).replace("e-","e\u2212").replace("e+","e").replace(/^-/,"\u2212")}function D(e,n){let t=Math.max(0,-Math.floor(Math.log10(Math.abs(n)||1)));if(t>6||Math.abs(e)>=1e7)return R(e,5);let r=e.toFixed(t);return(Number(r)===0?r.replace("-",""):r).replace(/^-/,"\u2212")}var $c={title:{en:"Kernel regression is attention",zh:"\u6838\u56DE\u5F52\u5C31\u662F\u6CE8\u610F\u529B"},figure:{en:"The data, the curve, and what each point weighs at the query",zh:"\u6570\u636E\u3001\u56DE\u5F52\u66F2\u7EBF\uFF0C\u4EE5\u53CA\u6BCF\u4E2A\u70B9\u5728\u67E5\u8BE2\u5904\u7684\u6743\u91CD"},query:{en:"Query x",zh:"\u67E5\u8BE2 x"},moveHint:{en:"Drag the query, or use the arrow keys",zh:"\u62D6\u52A8\u67E5\u8BE2\uFF0C\u6216\u7528\u65B9\u5411\u952E\u79FB\u52A8"},kernel:{en:"Kernel",zh:"\u6838\u51FD\u6570"},kernel_gaussian:{en:"Gaussian",zh:"\u9AD8\u65AF\u6838"},kernel_laplacian:{en:"Laplacian",zh:"\u62C9\u666E\u62C9\u65AF\u6838"},kernel_cauchy:{en:"Cauchy",zh:"\u67EF\u897F\u6838"},kernel_matern32:{en:"Mat\xE9rn 3/2",zh:"Mat\xE9rn 3/2 \u6838"},kernel_matern52:{en:"Mat\xE9rn 5/2",zh:"Mat\xE9rn 5/2 \u6838"},kernel_boxcar:{en:"Boxcar",zh:"\u77E9\u5F62\u6838"},kernel_triangular:{en:"Triangular",zh:"\u4E09\u89D2\u6838"},kernel_epanechnikov:{en:"Epanechnikov",zh:"Epanechnikov \u6838"},kernel_biweight:{en:"Biweight",zh:"\u53CC\u6743\u6838"},kernel_triweight:{en:"Triweight",zh:"\u4E09\u6743\u6838"},kernel_tricube:{en:"Tricube",zh:"\u4E09\u6B21\u7ACB\u65B9\u6838"},kernel_cosine:{en:"Cosine",zh:"\u4F59\u5F26\u6838"},width:{en:"Bandwidth w",zh:"\u5E26\u5BBD w"},temperature:{en:"temperature T",zh:"\u6E29\u5EA6 T"},widthIs:{en:"bandwidth {width}",zh:"\u5E26\u5BBD {width}"},widthAndTemperature:{en:"bandwidth {width}, temperature {temperature}",zh:"\u5E26\u5BBD {width}\uFF0C\u6E29\u5EA6 {temperature}"},cold:{en:"cold: the nearest point",zh:"\u4F4E\u6E29\uFF1A\u53EA\u770B\u6700\u8FD1\u7684\u70B9"},hot:{en:"hot: the plain mean",zh:"\u9AD8\u6E29\uFF1A\u6240\u6709\u70B9\u7684\u5E73\u5747"},narrow:{en:"narrow: the nearest point",zh:"\u7A84\uFF1A\u53EA\u770B\u6700\u8FD1\u7684\u70B9"},wide:{en:"wide: the plain mean",zh:"\u5BBD\uFF1A\u6240\u6709\u70B9\u7684\u5E73\u5747"},best:{en:"best",zh:"\u6700\u4F73"},toBest:{en:"Set the best: {width}",zh:"\u8BBE\u4E3A\u6700\u4F73\uFF1A{width}"},errorCurve:{en:"Error of each point predicted from the others, against the bandwidth",zh:"\u7528\u5176\u4F59\u5404\u70B9\u9884\u6D4B\u6BCF\u4E2A\u70B9\u7684\u8BEF\u5DEE\uFF0C\u968F\u5E26\u5BBD\u7684\u53D8\u5316"},errorTitle:{en:"Error of each point predicted from the others",zh:"\u7528\u5176\u4F59\u5404\u70B9\u9884\u6D4B\u6BCF\u4E2A\u70B9\u7684\u8BEF\u5DEE\uFF08\u7559\u4E00\u6CD5\uFF09"},errorSample:{en:"{asked} of {all} points asked",zh:"\u53D6 {all} \u4E2A\u70B9\u4E2D\u7684 {asked} \u4E2A"},softmaxTitle:{en:"The same thing as attention",zh:"\u540C\u4E00\u4EF6\u4E8B\uFF0C\u5199\u6210\u6CE8\u610F\u529B"},asTemperature_gaussian:{en:"The slider is also the temperature of the softmax: T = w\xB2 = {temperature}. Cold, all weight goes to the nearest point; hot, to all points alike.",zh:"\u8FD9\u4E2A\u6ED1\u5757\u540C\u65F6\u4E5F\u662F softmax \u7684\u6E29\u5EA6\uFF1AT = w\xB2 = {temperature}\u3002\u6E29\u5EA6\u4F4E\uFF0C\u6743\u91CD\u5168\u7ED9\u6700\u8FD1\u7684\u70B9\uFF1B\u6E29\u5EA6\u9AD8\uFF0C\u6240\u6709\u70B9\u6743\u91CD\u76F8\u540C\u3002"},asTemperature_laplacian:{en:"The slider is also the temperature of the softmax: T = w = {temperature}. Cold, all weight goes to the nearest point; hot, to all points alike.",zh:"\u8FD9\u4E2A\u6ED1\u5757\u540C\u65F6\u4E5F\u662F softmax \u7684\u6E29\u5EA6\uFF1AT = w = {temperature}\u3002\u6E29\u5EA6\u4F4E\uFF0C\u6743\u91CD\u5168\u7ED9\u6700\u8FD1\u7684\u70B9\uFF1B\u6E29\u5EA6\u9AD8\uFF0C\u6240\u6709\u70B9\u6743\u91CD\u76F8\u540C\u3002"},notTemperature:{en:"With this kernel w scales the distances before the logarithm, so it is not exactly a temperature; with the Gaussian (T = w\xB2) and the Laplacian (T = w) it is.",zh:"\u5BF9\u8FD9\u4E2A\u6838\u51FD\u6570\uFF0Cw \u5728\u53D6\u5BF9\u6570\u4E4B\u524D\u7F29\u653E\u8DDD\u79BB\uFF0C\u56E0\u6B64\u4E0D\u6070\u597D\u662F\u6E29\u5EA6\uFF1B\u5BF9\u9AD8\u65AF\u6838\uFF08T = w\xB2\uFF09\u548C\u62C9\u666E\u62C9\u65AF\u6838\uFF08T = w\uFF09\u624D\u662F\u3002"},edge:{en:"Beyond one bandwidth the score is \u2212\u221E, so the weight is exactly 0.",zh:"\u8D85\u51FA\u4E00\u4E2A\u5E26\u5BBD\uFF0C\u5F97\u5206\u4E3A \u2212\u221E\uFF0C\u6743\u91CD\u6070\u597D\u4E3A 0\u3002"},rowTitle:{en:"One row of attention: the weights of the {count} points, in order of x",zh:"\u6CE8\u610F\u529B\u7684\u4E00\u884C\uFF1A{count} \u4E2A\u70B9\u7684\u6743\u91CD\uFF0C\u6309 x \u6392\u5217"},rowLabel:{en:"The weights of all points as a row of colours",zh:"\u6240\u6709\u70B9\u7684\u6743\u91CD\uFF0C\u7528\u4E00\u884C\u989C\u8272\u8868\u793A"},tableTitle:{en:"The largest weights, term by term",zh:"\u6700\u5927\u7684\u6743\u91CD\uFF0C\u9010\u9879\u5217\u51FA"},point:{en:"point",zh:"\u70B9"},value:{en:"value",zh:"\u503C"},score:{en:"score",zh:"\u5F97\u5206"},scaled:{en:"scaled",zh:"\u7F29\u653E\u540E"},distance:{en:"distance",zh:"\u8DDD\u79BB"},weight:{en:"weight",zh:"\u6743\u91CD"},product:{en:"product",zh:"\u4E58\u79EF"},others:{en:"the others: {count}",zh:"\u5176\u4F59 {count} \u4E2A"},sum:{en:"sum",zh:"\u603B\u548C"},summary:{en:"At x = {x} the prediction is {prediction}. The largest weight, {weight}, is on the point at {at}; the weight is spread over about {sharers} of {count} points.",zh:"\u5728 x = {x} \u5904\uFF0C\u9884\u6D4B\u503C\u4E3A {prediction}\u3002\u6700\u5927\u7684\u6743\u91CD {weight} \u5728 {at} \u5904\u7684\u70B9\u4E0A\uFF1B\u6743\u91CD\u5927\u7EA6\u5206\u5E03\u5728 {count} \u4E2A\u70B9\u4E2D\u7684 {sharers} \u4E2A\u4E0A\u3002"},alone:{en:"At x = {x} no point is within one bandwidth: the nearest, at {at}, stands in, and the prediction is {prediction}.",zh:"\u5728 x = {x} \u5904\uFF0C\u4E00\u4E2A\u5E26\u5BBD\u4E4B\u5185\u6CA1\u6709\u70B9\uFF1A\u7531\u6700\u8FD1\u7684\u3001\u4F4D\u4E8E {at} \u7684\u70B9\u4EE3\u66FF\uFF0C\u9884\u6D4B\u503C\u4E3A {prediction}\u3002"},hover:{en:"x {x}   y {y}   weight {weight}",zh:"x {x}   y {y}   \u6743\u91CD {weight}"},empty:{en:"There are no points to show.",zh:"\u6CA1\u6709\u53EF\u663E\u793A\u7684\u70B9\u3002"}};function Se(e){return(n,t={})=>$c[n][e].replace(/\{(\w+)\}/g,(r,o)=>Object.hasOwn(t,o)?String(t[o]):r)}var _r=600,Pr=e=>e.target.value;function Ma(e,n,t){let{title:r,notes:o}=n;return y`<header>
      <h1>${r||Se(e)("title")}</h1>
      <select name="language" aria-label=${g(e,"language")} @change=${i=>t(Pr(i))}>
        <option value="en" ?selected=${e==="en"}>English</option>
        <option value="zh" ?selected=${e==="zh"}>中文</option>
      </select>
    </header>
    ${o.length===0?x:y`<ul class="notes" aria-label=${g(e,"notes")}>
      ${o.map(i=>y`<li>${i[e]||i.en}</li>`)}
    </ul>`}`}function $a(e,n,t){let r=Se(e),{kernel:o,temperature:i,errors:a,points:s}=n,l=R(n.width),c=i===null?r("widthIs",{width:l}):r("widthAndTemperature",{width:l,temperature:R(i)}),d=a?.best??null,u=a&&a.asked<s?r("errorSample",{asked:a.asked,all:s}):x;return y`<div class="controls">
    <div class="head">
      <span>
        <label for="kernel">${r("kernel")}</label>
        <select id="kernel" .value=${o} @change=${f=>t.kernel(Pr(f))}>
          ${Nn.map(f=>y`<option value=${f} ?selected=${f===o}>${r(`kernel_${f}`)}</option>`)}
        </select>
      </span>
      <span>
        <label for="width">${r("width")}</label> = <output for="width">${l}</output>
        ${i===null?x:y`<span class="also">${r("temperature")} = <output for="width">${R(i)}</output></span>`}
      </span>
    </div>
    <div class="slide">
      <div class="caption">
        <span>${r("errorTitle")}</span>
        <span>
          ${u}
          ${d===null?x:y`<button type="button" class="best" @click=${()=>t.width(d.width)}>${r("toBest",{width:R(d.width)})}</button>`}
        </span>
      </div>
      <div class="errors"><canvas role="img" aria-label=${r("errorCurve")}></canvas></div>
      <input
        id="width" type="range" min="0" max=${_r} step="1" .value=${String(Math.round(n.share*_r))}
        aria-valuetext=${c} @input=${f=>t.share(Number(Pr(f))/_r)}
      />
      <div class="caption">
        <span>${r(i===null?"narrow":"cold")}</span><span>${r(i===null?"wide":"hot")}</span>
      </div>
    </div>
  </div>`}var kc=49,Ac=400,Tc=6,Sc=12;function Ec(e,n,t=kc){return Float64Array.from({length:t},(r,o)=>e*(n/e)**(o/(t-1)))}var Dn=class{constructor(n){this.tell=n;this.timer=null}start(n,t,r,o){if(this.stop(),n.x.length<3)return;let i=Ec(r,o),a=Math.ceil(n.x.length/Ac),s=Math.ceil(n.x.length/a),l=[],c=u=>pa(n,u,t,a),d=()=>{let u=performance.now()+Tc;for(;l.length<i.length&&performance.now()<u;)l.push(c(i[l.length]));if(l.length<i.length){this.tell({widths:i,errors:l,best:null,asked:s}),this.timer=setTimeout(d);return}this.timer=null,this.tell({widths:i,errors:l,best:Cc(i,l,c),asked:s})};this.timer=setTimeout(d)}stop(){this.timer!==null&&clearTimeout(this.timer),this.timer=null}};function Cc(e,n,t){let r=0;n.forEach((u,f)=>{u<n[r]&&(r=f)});let o=Math.log(e[Math.max(0,r-1)]),i=Math.log(e[Math.min(e.length-1,r+1)]),a={width:e[r],error:n[r]},s=(Math.sqrt(5)-1)/2,l=u=>{let f=Math.exp(u),h=t(f);return h<a.error&&(a={width:f,error:h}),{logarithm:u,error:h}},c=l(i-s*(i-o)),d=l(o+s*(i-o));for(let u=0;u<Sc;u+=1)c.error<=d.error?(i=d.logarithm,d=c,c=l(i-s*(i-o))):(o=c.logarithm,c=d,d=l(o+s*(i-o)));return a}function Bt(e,n){return e==null||n==null?NaN:e<n?-1:e>n?1:e>=n?0:NaN}function Lc(e,n){return e==null||n==null?NaN:n<e?-1:n>e?1:n>=e?0:NaN}function ka(e){let n,t,r;e.length!==2?(n=Bt,t=(s,l)=>Bt(e(s),l),r=(s,l)=>e(s)-l):(n=e===Bt||e===Lc?e:_c,t=e,r=e);function o(s,l,c=0,d=s.length){if(c<d){if(n(l,l)!==0)return d;do{let u=c+d>>>1;t(s[u],l)<0?c=u+1:d=u}while(c<d)}return c}function i(s,l,c=0,d=s.length){if(c<d){if(n(l,l)!==0)return d;do{let u=c+d>>>1;t(s[u],l)<=0?c=u+1:d=u}while(c<d)}return c}function a(s,l,c=0,d=s.length){let u=o(s,l,c,d-1);return u>c&&r(s[u-1],l)>-r(s[u],l)?u-1:u}return{left:o,center:a,right:i}}function _c(){return 0}function Pc(e){return e===null?NaN:+e}var Aa=ka(Bt),Ta=Aa.right,p0=Aa.left,b0=ka(Pc).center;var g0=Sa(Ea),y0=Sa(zc);function Sa(e){return function(n,t,r=t){if(!((t=+t)>=0))throw new RangeError("invalid rx");if(!((r=+r)>=0))throw new RangeError("invalid ry");let{data:o,width:i,height:a}=n;if(!((i=Math.floor(i))>=0))throw new RangeError("invalid width");if(!((a=Math.floor(a!==void 0?a:o.length/i))>=0))throw new RangeError("invalid height");if(!i||!a||!t&&!r)return n;let s=t&&e(t),l=r&&e(r),c=o.slice();return s&&l?(mt(s,c,o,i,a),mt(s,o,c,i,a),mt(s,c,o,i,a),pt(l,o,c,i,a),pt(l,c,o,i,a),pt(l,o,c,i,a)):s?(mt(s,o,c,i,a),mt(s,c,o,i,a),mt(s,o,c,i,a)):l&&(pt(l,o,c,i,a),pt(l,c,o,i,a),pt(l,o,c,i,a)),n}}function mt(e,n,t,r,o){for(let i=0,a=r*o;i<a;)e(n,t,i,i+=r,1)}function pt(e,n,t,r,o){for(let i=0,a=r*o;i<r;++i)e(n,t,i,i+a,r)}function zc(e){let n=Ea(e);return(t,r,o,i,a)=>{o<<=2,i<<=2,a<<=2,n(t,r,o+0,i+0,a),n(t,r,o+1,i+1,a),n(t,r,o+2,i+2,a),n(t,r,o+3,i+3,a)}}function Ea(e){let n=Math.floor(e);if(n===e)return Rc(e);let t=e-n,r=2*e+1;return(o,i,a,s,l)=>{if(!((s-=l)>=a))return;let c=n*i[a],d=l*n,u=d+l;for(let f=a,h=a+d;f<h;f+=l)c+=i[Math.min(s,f)];for(let f=a,h=s;f<=h;f+=l)c+=i[Math.min(s,f+d)],o[f]=(c+t*(i[Math.max(a,f-u)]+i[Math.min(s,f+u)]))/r,c-=i[Math.max(a,f-d)]}}function Rc(e){let n=2*e+1;return(t,r,o,i,a)=>{if(!((i-=a)>=o))return;let s=e*r[o],l=a*e;for(let c=o,d=o+l;c<d;c+=a)s+=r[Math.min(i,c)];for(let c=o,d=i;c<=d;c+=a)s+=r[Math.min(i,c+l)],t[c]=s/n,s-=r[Math.max(o,c-l)]}}var Nc=Array.prototype,w0=Nc.slice;var Oc=Math.sqrt(50),Dc=Math.sqrt(10),Ic=Math.sqrt(2);function In(e,n,t){let r=(n-e)/Math.max(0,t),o=Math.floor(Math.log10(r)),i=r/Math.pow(10,o),a=i>=Oc?10:i>=Dc?5:i>=Ic?2:1,s,l,c;return o<0?(c=Math.pow(10,-o)/a,s=Math.round(e*c),l=Math.round(n*c),s/c<e&&++s,l/c>n&&--l,c=-c):(c=Math.pow(10,o)*a,s=Math.round(e/c),l=Math.round(n/c),s*c<e&&++s,l*c>n&&--l),l<s&&.5<=t&&t<2?In(e,n,t*2):[s,l,c]}function Ca(e,n,t){if(n=+n,e=+e,t=+t,!(t>0))return[];if(e===n)return[e];let r=n<e,[o,i,a]=r?In(n,e,t):In(e,n,t);if(!(i>=o))return[];let s=i-o+1,l=new Array(s);if(r)if(a<0)for(let c=0;c<s;++c)l[c]=(i-c)/-a;else for(let c=0;c<s;++c)l[c]=(i-c)*a;else if(a<0)for(let c=0;c<s;++c)l[c]=(o+c)/-a;else for(let c=0;c<s;++c)l[c]=(o+c)*a;return l}function Bn(e,n,t){return n=+n,e=+e,t=+t,In(e,n,t)[2]}function La(e,n,t){n=+n,e=+e,t=+t;let r=n<e,o=r?Bn(n,e,t):Bn(e,n,t);return(r?-1:1)*(o<0?1/-o:o)}var v0=Bc(Math.random);function Bc(e){return function(t,r=0,o=t.length){let i=o-(r=+r);for(;i;){let a=e()*i--|0,s=t[i+r];t[i+r]=t[a+r],t[a+r]=s}return t}}function qc(e){return Math.abs(e=Math.round(e))>=1e21?e.toLocaleString("en").replace(/,/g,""):e.toString(10)}function Wn(e,n){if(!isFinite(e)||e===0)return null;var t=(e=n?e.toExponential(n-1):e.toExponential()).indexOf("e"),r=e.slice(0,t);return[r.length>1?r[0]+r.slice(2):r,+e.slice(t+1)]}function bt(e){return e=Wn(Math.abs(e)),e?e[1]:NaN}function Wc(e,n){return function(t,r){for(var o=t.length,i=[],a=0,s=e[0],l=0;o>0&&s>0&&(l+s+1>r&&(s=Math.max(1,r-l)),i.push(t.substring(o-=s,o+s)),!((l+=s+1)>r));)s=e[a=(a+1)%e.length];return i.reverse().join(n)}}function Fc(e){return function(n){return n.replace(/[0-9]/g,function(t){return e[+t]})}}var Hc=/^(?:(.)?([<>=^]))?([+\-( ])?([$#])?(0)?(\d+)?(,)?(\.\d+)?(~)?([a-z%])?$/i;function qt(e){if(!(n=Hc.exec(e)))throw new Error("invalid format: "+e);var n;return new zr({fill:n[1],align:n[2],sign:n[3],symbol:n[4],zero:n[5],width:n[6],comma:n[7],precision:n[8]&&n[8].slice(1),trim:n[9],type:n[10]})}qt.prototype=zr.prototype;function zr(e){this.fill=e.fill===void 0?" ":e.fill+"",this.align=e.align===void 0?">":e.align+"",this.sign=e.sign===void 0?"-":e.sign+"",this.symbol=e.symbol===void 0?"":e.symbol+"",this.zero=!!e.zero,this.width=e.width===void 0?void 0:+e.width,this.comma=!!e.comma,this.precision=e.precision===void 0?void 0:+e.precision,this.trim=!!e.trim,this.type=e.type===void 0?"":e.type+""}zr.prototype.toString=function(){return this.fill+this.align+this.sign+this.symbol+(this.zero?"0":"")+(this.width===void 0?"":Math.max(1,this.width|0))+(this.comma?",":"")+(this.precision===void 0?"":"."+Math.max(0,this.precision|0))+(this.trim?"~":"")+this.type};function Uc(e){e:for(var n=e.length,t=1,r=-1,o;t<n;++t)switch(e[t]){case".":r=o=t;break;case"0":r===0&&(r=t),o=t;break;default:if(!+e[t])break e;r>0&&(r=0);break}return r>0?e.slice(0,r)+e.slice(o+1):e}var Fn;function Vc(e,n){var t=Wn(e,n);if(!t)return Fn=void 0,e.toPrecision(n);var r=t[0],o=t[1],i=o-(Fn=Math.max(-8,Math.min(8,Math.floor(o/3)))*3)+1,a=r.length;return i===a?r:i>a?r+new Array(i-a+1).join("0"):i>0?r.slice(0,i)+"."+r.slice(i):"0."+new Array(1-i).join("0")+Wn(e,Math.max(0,n+i-1))[0]}function _a(e,n){var t=Wn(e,n);if(!t)return e+"";var r=t[0],o=t[1];return o<0?"0."+new Array(-o).join("0")+r:r.length>o+1?r.slice(0,o+1)+"."+r.slice(o+1):r+new Array(o-r.length+2).join("0")}var Pa={"%":(e,n)=>(e*100).toFixed(n),b:e=>Math.round(e).toString(2),c:e=>e+"",d:qc,e:(e,n)=>e.toExponential(n),f:(e,n)=>e.toFixed(n),g:(e,n)=>e.toPrecision(n),o:e=>Math.round(e).toString(8),p:(e,n)=>_a(e*100,n),r:_a,s:Vc,X:e=>Math.round(e).toString(16).toUpperCase(),x:e=>Math.round(e).toString(16)};function za(e){return e}var Ra=Array.prototype.map,Na=["y","z","a","f","p","n","\xB5","m","","k","M","G","T","P","E","Z","Y"];function Kc(e){var n=e.grouping===void 0||e.thousands===void 0?za:Wc(Ra.call(e.grouping,Number),e.thousands+""),t=e.currency===void 0?"":e.currency[0]+"",r=e.currency===void 0?"":e.currency[1]+"",o=e.decimal===void 0?".":e.decimal+"",i=e.numerals===void 0?za:Fc(Ra.call(e.numerals,String)),a=e.percent===void 0?"%":e.percent+"",s=e.minus===void 0?"\u2212":e.minus+"",l=e.nan===void 0?"NaN":e.nan+"";function c(u,f){u=qt(u);var h=u.fill,p=u.align,b=u.sign,m=u.symbol,w=u.zero,$=u.width,S=u.comma,E=u.precision,B=u.trim,P=u.type;P==="n"?(S=!0,P="g"):Pa[P]||(E===void 0&&(E=12),B=!0,P="g"),(w||h==="0"&&p==="=")&&(w=!0,h="0",p="=");var Z=(f&&f.prefix!==void 0?f.prefix:"")+(m==="$"?t:m==="#"&&/[boxX]/.test(P)?"0"+P.toLowerCase():""),Ht=(m==="$"?r:/[%p]/.test(P)?a:"")+(f&&f.suffix!==void 0?f.suffix:""),yt=Pa[P],Ut=/[defgprs%]/.test(P);E=E===void 0?6:/[gprs]/.test(P)?Math.max(1,Math.min(21,E)):Math.max(0,Math.min(20,E));function Ir(A){var Ce=Z,G=Ht,Qe,Br,Vt;if(P==="c")G=yt(A)+G,A="";else{A=+A;var Kt=A<0||1/A<0;if(A=isNaN(A)?l:yt(Math.abs(A),E),B&&(A=Uc(A)),Kt&&+A==0&&b!=="+"&&(Kt=!1),Ce=(Kt?b==="("?b:s:b==="-"||b==="("?"":b)+Ce,G=(P==="s"&&!isNaN(A)&&Fn!==void 0?Na[8+Fn/3]:"")+G+(Kt&&b==="("?")":""),Ut){for(Qe=-1,Br=A.length;++Qe<Br;)if(Vt=A.charCodeAt(Qe),48>Vt||Vt>57){G=(Vt===46?o+A.slice(Qe+1):A.slice(Qe))+G,A=A.slice(0,Qe);break}}}S&&!w&&(A=n(A,1/0));var jt=Ce.length+A.length+G.length,fe=jt<$?new Array($-jt+1).join(h):"";switch(S&&w&&(A=n(fe+A,fe.length?$-G.length:1/0),fe=""),p){case"<":A=Ce+A+G+fe;break;case"=":A=Ce+fe+A+G;break;case"^":A=fe.slice(0,jt=fe.length>>1)+Ce+A+G+fe.slice(jt);break;default:A=fe+Ce+A+G;break}return i(A)}return Ir.toString=function(){return u+""},Ir}function d(u,f){var h=Math.max(-8,Math.min(8,Math.floor(bt(f)/3)))*3,p=Math.pow(10,-h),b=c((u=qt(u),u.type="f",u),{suffix:Na[8+h/3]});return function(m){return b(p*m)}}return{format:c,formatPrefix:d}}var qn,Rr,Nr;jc({thousands:",",grouping:[3],currency:["$",""]});function jc(e){return qn=Kc(e),Rr=qn.format,Nr=qn.formatPrefix,qn}function Oa(e){return Math.max(0,-bt(Math.abs(e)))}function Da(e,n){return Math.max(0,Math.max(-8,Math.min(8,Math.floor(bt(n)/3)))*3-bt(Math.abs(e)))}function Ia(e,n){return e=Math.abs(e),n=Math.abs(n)-e,Math.max(0,bt(n)-bt(e))+1}function Gc(e,n){switch(arguments.length){case 0:break;case 1:this.range(e);break;default:this.range(n).domain(e);break}return this}function Yc(e){return function(){return e}}function Xc(e){return+e}var Ba=[0,1];function gt(e){return e}function Or(e,n){return(n-=e=+e)?function(t){return(t-e)/n}:Yc(isNaN(n)?NaN:.5)}function Qc(e,n){var t;return e>n&&(t=e,e=n,n=t),function(r){return Math.max(e,Math.min(n,r))}}function Jc(e,n,t){var r=e[0],o=e[1],i=n[0],a=n[1];return o<r?(r=Or(o,r),i=t(a,i)):(r=Or(r,o),i=t(i,a)),function(s){return i(r(s))}}function Zc(e,n,t){var r=Math.min(e.length,n.length)-1,o=new Array(r),i=new Array(r),a=-1;for(e[r]<e[0]&&(e=e.slice().reverse(),n=n.slice().reverse());++a<r;)o[a]=Or(e[a],e[a+1]),i[a]=t(n[a],n[a+1]);return function(s){var l=Ta(e,s,1,r)-1;return i[l](o[l](s))}}function eu(e,n){return n.domain(e.domain()).range(e.range()).interpolate(e.interpolate()).clamp(e.clamp()).unknown(e.unknown())}function tu(){var e=Ba,n=Ba,t=vn,r,o,i,a=gt,s,l,c;function d(){var f=Math.min(e.length,n.length);return a!==gt&&(a=Qc(e[0],e[f-1])),s=f>2?Zc:Jc,l=c=null,u}function u(f){return f==null||isNaN(f=+f)?i:(l||(l=s(e.map(r),n,t)))(r(a(f)))}return u.invert=function(f){return a(o((c||(c=s(n,e.map(r),ne)))(f)))},u.domain=function(f){return arguments.length?(e=Array.from(f,Xc),d()):e.slice()},u.range=function(f){return arguments.length?(n=Array.from(f),d()):n.slice()},u.rangeRound=function(f){return n=Array.from(f),t=ni,d()},u.clamp=function(f){return arguments.length?(a=f?!0:gt,d()):a!==gt},u.interpolate=function(f){return arguments.length?(t=f,d()):t},u.unknown=function(f){return arguments.length?(i=f,u):i},function(f,h){return r=f,o=h,d()}}function nu(){return tu()(gt,gt)}function ru(e,n,t,r){var o=La(e,n,t),i;switch(r=qt(r??",f"),r.type){case"s":{var a=Math.max(Math.abs(e),Math.abs(n));return r.precision==null&&!isNaN(i=Da(o,a))&&(r.precision=i),Nr(r,a)}case"":case"e":case"g":case"p":case"r":{r.precision==null&&!isNaN(i=Ia(o,Math.max(Math.abs(e),Math.abs(n))))&&(r.precision=i-(r.type==="e"));break}case"f":case"%":{r.precision==null&&!isNaN(i=Oa(o))&&(r.precision=i-(r.type==="%")*2);break}}return Rr(r)}function ou(e){var n=e.domain;return e.ticks=function(t){var r=n();return Ca(r[0],r[r.length-1],t??10)},e.tickFormat=function(t,r){var o=n();return ru(o[0],o[o.length-1],t??10,r)},e.nice=function(t){t==null&&(t=10);var r=n(),o=0,i=r.length-1,a=r[o],s=r[i],l,c,d=10;for(s<a&&(c=a,a=s,s=c,c=o,o=i,i=c);d-- >0;){if(c=Bn(a,s,t),c===l)return r[o]=a,r[i]=s,n(r);if(c>0)a=Math.floor(a/c)*c,s=Math.ceil(s/c)*c;else if(c<0)a=Math.ceil(a*c)/c,s=Math.floor(s*c)/c;else break;l=c}return e},e}function Hn(){var e=nu();return e.copy=function(){return eu(e,Hn())},Gc.apply(e,arguments),ou(e)}var I=58,de=14,Xe=12,Dr=74,iu=16,au=38,Un=14,Wt=class{constructor(n,t,r){this.width=n;this.height=t;this.stripBottom=t-au,this.stripTop=this.stripBottom-Dr,this.plotBottom=this.stripTop-iu,this.x=Hn(r.x,[I,n-de]),this.y=Hn(r.y,[this.plotBottom,Xe])}holds(n,t){return n>=I&&n<=this.width-de&&t>=Xe&&t<=this.stripBottom}};function qa(e,n,t){let{x:r,y:o}=e,i=Math.min(n,r[0]??n),a=Math.max(t,r[r.length-1]??t),s=(a-i||1)*.06,l=1/0,c=-1/0;for(let u of o)u<l&&(l=u),u>c&&(c=u);c>=l||([l,c]=[0,1]);let d=(c-l||1)*.08;return{x:[i-s,a+s],y:[l-d,c+d]}}function Wa(e,n,t,r){let o=null,i=Un*Un;for(let a=0;a<n.x.length;a+=1){let s=e.x(n.x[a])-t;if(s>Un)break;if(s<-Un)continue;let l=e.y(n.y[a])-r,c=s*s+l*l;c<i&&(i=c,o=a)}return o}function Fa(e,n,t,r){let o=n.x(t.query),i=Math.min(n.plotBottom,Math.max(Xe,n.y(t.attention.prediction)));e.strokeStyle=r.query,e.lineWidth=2,e.beginPath(),e.moveTo(o,Xe),e.lineTo(o,n.stripBottom),e.stroke(),e.lineWidth=1.25,e.setLineDash([4,4]),e.beginPath(),e.moveTo(I,i),e.lineTo(o,i),e.stroke(),e.setLineDash([]),e.beginPath(),e.moveTo(o,i-8),e.lineTo(o+8,i),e.lineTo(o,i+8),e.lineTo(o-8,i),e.closePath(),e.fillStyle=r.query,e.strokeStyle=r.paper,e.lineWidth=2,e.fill(),e.stroke();let a=n.stripBottom-4;e.beginPath(),e.moveTo(o,a),e.lineTo(o+9,a+10),e.lineTo(o+9,a+26),e.lineTo(o-9,a+26),e.lineTo(o-9,a+10),e.closePath(),e.fill(),e.stroke(),t.focused&&(e.strokeStyle=r.text,e.lineWidth=2,e.stroke()),e.strokeStyle=r.paper,e.lineWidth=1.5,e.beginPath();for(let s of[-3,0,3])e.moveTo(o+s,a+13),e.lineTo(o+s,a+22);e.stroke()}function Ha(e,n,t,r){let o=t.hovered,i=n.x(t.data.x[o]),a=n.y(t.data.y[o]);e.beginPath(),e.arc(i,a,12,0,2*Math.PI),e.strokeStyle=r.text,e.lineWidth=1.5,e.stroke();let s=e.measureText(t.labels.hover).width+16,l=Math.min(Math.max(I,i-s/2),n.width-de-s),c=a-44>0?a-44:a+18;e.fillStyle=r.paper,e.strokeStyle=r.faint,e.lineWidth=1,e.beginPath(),e.roundRect(l,c,s,26,5),e.fill(),e.stroke(),e.fillStyle=r.text,e.textAlign="left",e.textBaseline="middle",e.fillText(t.labels.hover,l+8,c+13.5)}var Ua=.004,Vn=32;function su(e,n){let t=n>600?1.5:2.6,r=n>600?4:n>150?6.5:9.5;return t+(r-t)*Math.sqrt(Math.max(0,e))}function Va(e,n,t,r){e.clearRect(0,0,n.width,n.height),e.font=r.font,lu(e,n,t,r),e.save(),e.beginPath(),e.rect(I,0,n.width-I-de,n.plotBottom),e.clip(),cu(e,n,t,r),du(e,n,t,r),uu(e,n,t,r),e.restore(),fu(e,n,t,r),Fa(e,n,t,r),t.hovered!==null&&Ha(e,n,t,r)}function lu(e,n,t,r){let{x:o,y:i}=n;e.strokeStyle=r.grid,e.lineWidth=1,e.fillStyle=r.faint,e.textBaseline="middle",e.textAlign="right";let a=i.ticks(6),s=i.tickFormat(6);e.beginPath();for(let d of a){let u=Math.round(i(d))+.5;e.moveTo(I,u),e.lineTo(n.width-de,u),e.fillText(s(d),I-8,u)}let l=o.ticks(Math.max(3,Math.min(10,Math.floor(n.width/80)))),c=o.tickFormat(l.length);e.textAlign="center",e.textBaseline="top";for(let d of l){let u=Math.round(o(d))+.5;e.moveTo(u,n.stripBottom),e.lineTo(u,n.stripBottom+5),e.fillText(c(d),u,n.stripBottom+8)}e.stroke(),e.strokeStyle=r.faint,e.beginPath(),e.moveTo(I,n.stripBottom+.5),e.lineTo(n.width-de,n.stripBottom+.5),e.stroke(),e.textAlign="left",e.textBaseline="top",e.fillText(t.labels.weight,I+4,n.stripTop-12)}function cu(e,n,t,r){let{x:o,plotBottom:i}=n,a=(i-Xe)*.3,[s,l]=o.range();e.beginPath(),e.moveTo(s,i);for(let c=s;c<=l;c+=1){let d=Math.exp(t.kernel.score((o.invert(c)-t.query)/t.width));e.lineTo(c,i-a*d)}e.lineTo(l,i),e.closePath(),e.globalAlpha=.13,e.fillStyle=r.query,e.fill(),e.globalAlpha=.55,e.strokeStyle=r.query,e.lineWidth=1,e.stroke(),e.globalAlpha=1}function uu(e,n,t,r){let{curve:o}=t;e.beginPath();for(let i=0;i<o.x.length;i+=1)e.lineTo(n.x(o.x[i]),n.y(o.y[i]));e.lineJoin="round",e.strokeStyle=r.paper,e.lineWidth=5.5,e.globalAlpha=.85,e.stroke(),e.globalAlpha=1,e.strokeStyle=r.curve,e.lineWidth=2.5,e.stroke()}function du(e,n,t,r){let{data:o,attention:i}=t,{weights:a}=i,s=Math.max(...Kn(a)),l=Array.from({length:Vn+1},()=>[]);for(let d=0;d<a.length;d+=1){let u=s>0?a[d]/s:0;l[u<Ua?0:1+Math.min(Vn-1,Math.floor(u*Vn))].push(d)}let c=Me("weights");l.forEach((d,u)=>{if(d.length===0)return;e.beginPath();for(let h of d){let p=su(u===0?0:a[h]/s,o.x.length),b=n.x(o.x[h]),m=n.y(o.y[h]);e.moveTo(b+p,m),e.arc(b,m,p,0,2*Math.PI)}if(u===0){e.strokeStyle=r.faint,e.globalAlpha=.75,e.lineWidth=1,e.stroke(),e.globalAlpha=1;return}let f=Math.round((u-.5)/Vn*255)*3;e.fillStyle=`rgb(${c[f]}, ${c[f+1]}, ${c[f+2]})`,e.fill(),e.strokeStyle=r.text,e.lineWidth=o.x.length>600?.4:.9,e.stroke()})}function Kn(e){let n=[0];for(let t=0;t<e.length;t+=4096)n.push(Math.max(...e.subarray(t,t+4096)));return n}function fu(e,n,t,r){let{data:o,attention:i}=t,{weights:a}=i,s=Math.max(...Kn(a));if(!(s>0))return;let l=Dr-16,c=Me("weights"),d=o.x.length>600?1:o.x.length>120?2:4;e.save(),e.beginPath(),e.rect(I,0,n.width-I-de,n.height),e.clip();for(let f=0;f<a.length;f+=1){let h=a[f]/s;if(h<Ua/4)continue;let p=Math.round(h*255)*3,b=n.x(o.x[f]);e.fillStyle=`rgb(${c[p]}, ${c[p+1]}, ${c[p+2]})`,e.fillRect(b-d/2,n.stripBottom-h*l,d,h*l),d>=4&&(e.strokeStyle=r.faint,e.lineWidth=.75,e.strokeRect(b-d/2,n.stripBottom-h*l,d,h*l))}e.restore(),e.fillStyle=r.faint,e.textAlign="right",e.textBaseline="middle";let u=Math.round(n.stripBottom-l)+.5;e.fillText(hu(s),I-8,u),e.fillText("0",I-8,n.stripBottom),e.strokeStyle=r.grid,e.lineWidth=1,e.beginPath(),e.moveTo(I,u),e.lineTo(n.width-de,u),e.stroke()}function hu(e){return e>=.995?"1":e>=.001?String(Number(e.toPrecision(2))):e.toExponential(0)}var Ka=9;function ja(e,n,t,r,o,i,a,s,l){e.clearRect(0,0,n,t);let{widths:c,errors:d,best:u}=r;if(d.length<2)return;let f=Math.min(...d,u?.error??1/0),h=Math.max(...d),p=w=>Ka+(n-2*Ka)*Math.log(w/o)/Math.log(i/o),b=w=>t-5-(t-22)*(w-f)/(h-f||1);if(e.beginPath(),d.forEach((w,$)=>e.lineTo(p(c[$]),b(w))),e.strokeStyle=s.faint,e.lineWidth=2,e.lineJoin="round",e.stroke(),e.beginPath(),e.moveTo(p(a),0),e.lineTo(p(a),t),e.strokeStyle=s.query,e.lineWidth=1.5,e.stroke(),!u)return;let m=p(u.width);e.beginPath(),e.arc(m,b(u.error),4.5,0,2*Math.PI),e.fillStyle=s.curve,e.strokeStyle=s.paper,e.lineWidth=1.5,e.fill(),e.stroke(),e.font=s.font,e.textBaseline="bottom",e.textAlign=m>n-50?"right":m<50?"left":"center",e.fillText(l,m,b(u.error)-7)}function Ga(e,n,t,r,o){e.clearRect(0,0,n,t);let i=Math.max(...Kn(r));if(!(i>0))return;let a=r.length,s=Math.min(a,Math.max(1,Math.floor(o))),l=Me("weights"),c=0;for(let d=0;d<s;d+=1){let u=Math.floor((d+1)*a/s),f=0;for(;c<u;c+=1)r[c]>f&&(f=r[c]);let h=Math.round(f/i*255)*3;e.fillStyle=`rgb(${l[h]}, ${l[h+1]}, ${l[h+2]})`;let p=d*n/s;e.fillRect(p,0,n/s+(s<o?0:.5),t)}if(!(n/s<6))for(let d=1;d<s;d+=1)e.clearRect(Math.round(d*n/s)-.5,0,1,t)}var mu=6,pu={cauchy:"1 / (1 + u\xB2)",matern32:"(1 + \u221A3 |u|) exp(\u2212\u221A3 |u|)",matern52:"(1 + \u221A5 |u| + 5/3 u\xB2) exp(\u2212\u221A5 |u|)",boxcar:"1",triangular:"1 \u2212 |u|",epanechnikov:"1 \u2212 u\xB2",biweight:"(1 \u2212 u\xB2)\xB2",triweight:"(1 \u2212 u\xB2)\xB3",tricube:"(1 \u2212 |u|\xB3)\xB3",cosine:"cos(\u03C0 u / 2)"};function Ft(e,n){return e.name==="gaussian"?n*n:e.name==="laplacian"?n:null}function Ya(e,n,t,r){let o=Ft(e,t);return e.name==="gaussian"?y`<math display="block"><mtable displaystyle="true">
      <mtr>
        <mtd><msub><mi>α</mi><mi>i</mi></msub></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <msub><mi>softmax</mi><mi>i</mi></msub>
          <mrow><mo>(</mo><mfrac>
            <mrow><mo>−</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><msup><mrow><mo>(</mo><mi>x</mi><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub><mo>)</mo></mrow><mn>2</mn></msup></mrow>
            <msup class="query"><mi>w</mi><mn>2</mn></msup>
          </mfrac><mo>)</mo></mrow>
        </mtd>
      </mtr>
      <mtr>
        <mtd></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <msub><mi>softmax</mi><mi>i</mi></msub>
          <mrow><mo>(</mo><mfrac>
            <mrow><mo>−</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><msup><mrow><mo>(</mo><mn>${n}</mn><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub><mo>)</mo></mrow><mn>2</mn></msup></mrow>
            <mn class="query">${R(o)}</mn>
          </mfrac><mo>)</mo></mrow>
        </mtd>
      </mtr>
      <mtr>
        <mtd><mrow><mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo></mrow></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <mrow><msub><mo>∑</mo><mi>i</mi></msub><msub><mi>α</mi><mi>i</mi></msub><msub><mi>y</mi><mi>i</mi></msub>
          <mo>=</mo><mn class="query">${r}</mn></mrow>
        </mtd>
      </mtr>
    </mtable></math>`:e.name==="laplacian"?y`<math display="block"><mtable displaystyle="true">
      <mtr>
        <mtd><msub><mi>α</mi><mi>i</mi></msub></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <msub><mi>softmax</mi><mi>i</mi></msub>
          <mrow><mo>(</mo><mfrac>
            <mrow><mo>−</mo><mo>|</mo><mi>x</mi><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub><mo>|</mo></mrow>
            <mi class="query">w</mi>
          </mfrac><mo>)</mo></mrow>
        </mtd>
      </mtr>
      <mtr>
        <mtd></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <msub><mi>softmax</mi><mi>i</mi></msub>
          <mrow><mo>(</mo><mfrac>
            <mrow><mo>−</mo><mo>|</mo><mn>${n}</mn><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub><mo>|</mo></mrow>
            <mn class="query">${R(o)}</mn>
          </mfrac><mo>)</mo></mrow>
        </mtd>
      </mtr>
      <mtr>
        <mtd><mrow><mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo></mrow></mtd><mtd><mo>=</mo></mtd>
        <mtd>
          <mrow><msub><mo>∑</mo><mi>i</mi></msub><msub><mi>α</mi><mi>i</mi></msub><msub><mi>y</mi><mi>i</mi></msub>
          <mo>=</mo><mn class="query">${r}</mn></mrow>
        </mtd>
      </mtr>
    </mtable></math>`:y`<math display="block"><mtable displaystyle="true">
    <mtr>
      <mtd><msub><mi>α</mi><mi>i</mi></msub></mtd><mtd><mo>=</mo></mtd>
      <mtd>
        <msub><mi>softmax</mi><mi>i</mi></msub>
        <mrow><mo>(</mo><mi>log</mi><mi>K</mi><mo>(</mo><mfrac>
          <mrow><mi>x</mi><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub></mrow><mi class="query">w</mi>
        </mfrac><mo>)</mo><mo>)</mo></mrow>
      </mtd>
    </mtr>
    <mtr>
      <mtd></mtd><mtd><mo>=</mo></mtd>
      <mtd>
        <msub><mi>softmax</mi><mi>i</mi></msub>
        <mrow><mo>(</mo><mi>log</mi><mi>K</mi><mo>(</mo><mfrac>
          <mrow><mn>${n}</mn><mo>−</mo><msub><mi>x</mi><mi>i</mi></msub></mrow><mn class="query">${R(t)}</mn>
        </mfrac><mo>)</mo><mo>)</mo></mrow>
      </mtd>
    </mtr>
    <mtr>
      <mtd><mrow><mi>K</mi><mo>(</mo><mi>u</mi><mo>)</mo></mrow></mtd><mtd><mo>=</mo></mtd>
      <mtd><mtext>${pu[e.name]??""}</mtext></mtd>
    </mtr>
    <mtr>
      <mtd><mrow><mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo></mrow></mtd><mtd><mo>=</mo></mtd>
      <mtd>
        <mrow><msub><mo>∑</mo><mi>i</mi></msub><msub><mi>α</mi><mi>i</mi></msub><msub><mi>y</mi><mi>i</mi></msub>
        <mo>=</mo><mn class="query">${r}</mn></mrow>
      </mtd>
    </mtr>
  </mtable></math>`}function Xa(e,n,t,r,o,i,a){let{x:s,y:l}=n,{weights:c,scores:d,prediction:u}=t,f=Ft(r,i),h=On(c,mu),p=s.length-h.length,b=m=>h.reduce((w,$)=>w+m($),0);return y`<div class="scroll" tabindex="0" role="group" aria-label=${e("tableTitle")}><table>
    <caption>${e("tableTitle")}</caption>
    <thead><tr>
      <th scope="col">${e("point")}<br />x<sub>i</sub></th>
      <th scope="col">${e(f===null?"distance":"score")}<br />${f===null?"u":"s"}<sub>i</sub></th>
      <th scope="col">${e(f===null?"score":"scaled")}<br />${f===null?"log K":y`s<sub>i</sub> / T`}</th>
      <th scope="col">${e("weight")}<br />α<sub>i</sub></th>
      <th scope="col">${e("value")}<br />y<sub>i</sub></th>
      <th scope="col">${e("product")}<br />α<sub>i</sub> y<sub>i</sub></th>
    </tr></thead>
    <tbody>
      ${h.map(m=>y`<tr>
        <td>${D(s[m],a.x)}</td>
        <td>${R(f===null?(o-s[m])/i:d[m]*f)}</td>
        <td>${R(d[m])}</td>
        <td class="weight">${R(c[m])}</td>
        <td>${D(l[m],a.y)}</td>
        <td>${D(c[m]*l[m],a.y/10)}</td>
      </tr>`)}
      ${p>0?y`<tr>
        <td colspan="3">${e("others",{count:p})}</td>
        <td class="weight">${R(Math.max(0,1-b(m=>c[m])),2)}</td>
        <td></td>
        <td>${D(u-b(m=>c[m]*l[m]),a.y/10)}</td>
      </tr>`:x}
    </tbody>
    <tfoot><tr>
      <th scope="row" colspan="3">${e("sum")}</th><td>1</td><td></td><td class="result">${D(u,a.y)}</td>
    </tr></tfoot>
  </table></div>`}var Qa=z`
  :host {
    --query: #b93c0a;
    display: block;
    padding: 12px 16px;
    max-width: 1360px;
    margin: 0 auto;
    container-type: inline-size;
  }
  @media (prefers-color-scheme: dark) {
    :host {
      --query: #ff9a5c;
    }
  }
  header {
    display: flex;
    flex-wrap: wrap;
    gap: 6px 16px;
    align-items: baseline;
    margin-bottom: 10px;
  }
  h1 {
    font-size: 19px;
    flex: 1 1 auto;
    overflow-wrap: anywhere;
  }
  .notes {
    list-style: none;
    margin: 0 0 10px;
    padding: 6px 12px;
    border-radius: 8px;
    background: var(--warn-ground);
    color: var(--warn);
  }
  .board {
    display: grid;
    gap: 18px;
    grid-template-columns: minmax(0, 1fr);
  }
  @container (min-width: 880px) {
    .board {
      grid-template-columns: minmax(0, 1.65fr) minmax(340px, 1fr);
      grid-template-rows: auto 1fr;
    }
    .softmax {
      grid-column: 2;
      grid-row: 1 / 3;
    }
  }
  .plot {
    position: relative;
    height: 460px;
    border: 1px solid var(--line);
    border-radius: 10px;
    background: var(--panel);
    box-shadow: var(--shadow);
    cursor: ew-resize;
    touch-action: pan-y;
  }
  canvas {
    display: block;
    width: 100%;
    height: 100%;
  }
  .hint {
    position: absolute;
    right: 14px;
    top: 8px;
    color: var(--muted);
    font-size: 13px;
    pointer-events: none;
    background: var(--panel);
    padding: 0 6px;
    border-radius: 4px;
  }
  .controls,
  .softmax {
    border: 1px solid var(--line);
    border-radius: 10px;
    background: var(--panel);
    padding: 14px 16px;
    min-width: 0;
    box-shadow: var(--shadow);
  }
  .head {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 22px;
    align-items: center;
  }
  .caption button {
    color: var(--ink);
    margin-left: 10px;
  }
  label {
    font-weight: 600;
  }
  output {
    font-variant-numeric: tabular-nums;
    font-weight: 600;
    color: var(--query);
    display: inline-block;
    min-width: 3.2em;
  }
  .slide {
    margin-top: 10px;
  }
  .caption {
    color: var(--muted);
    font-size: 13px;
    display: flex;
    justify-content: space-between;
    align-items: center;
    gap: 12px;
  }
  .errors {
    height: 76px;
  }
  input[type="range"] {
    width: 100%;
    margin: 0;
    padding: 0;
    height: 28px;
    accent-color: var(--query);
    cursor: pointer;
    display: block;
  }
  h2 {
    font-size: 16px;
    margin: 0 0 8px;
  }
  p {
    margin: 0 0 10px;
  }
  .head > span,
  .also {
    white-space: nowrap;
  }
  .also {
    margin-left: 14px;
  }
  math {
    font-size: 17px;
    margin: 0 0 8px;
    font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", math, serif;
  }
  mtd {
    padding: 5px 3px;
  }
  mtd:first-child {
    text-align: right;
  }
  mtd:last-child {
    text-align: left;
  }
  math .query {
    color: var(--query);
  }
  .row {
    height: 24px;
    border: 1px solid var(--line);
    border-radius: 3px;
    overflow: hidden;
    margin: 4px 0 12px;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-variant-numeric: tabular-nums;
    font-size: 14px;
  }
  caption {
    text-align: left;
    color: var(--muted);
    font-size: 13px;
  }
  th,
  td {
    text-align: right;
    padding: 2px 0 2px 10px;
    font-weight: normal;
    white-space: nowrap;
  }
  thead th {
    color: var(--muted);
    font-size: 13px;
    border-bottom: 1px solid var(--line);
    vertical-align: bottom;
    line-height: 1.25;
  }
  th:first-child,
  td:first-child {
    text-align: left;
    padding-left: 0;
  }
  tfoot td,
  tfoot th {
    border-top: 1px solid var(--line);
    font-weight: 600;
  }
  .weight {
    font-weight: 600;
  }
  .result {
    color: var(--query);
  }
  @container (max-width: 480px) {
    th,
    td {
      padding-left: 6px;
    }
    table {
      font-size: 13px;
    }
    .also {
      margin-left: 8px;
    }
    .controls,
    .softmax {
      padding: 12px;
    }
  }
  .scroll {
    overflow-x: auto;
  }
  .line {
    margin: 14px 0 0;
    padding-top: 10px;
    border-top: 1px solid var(--line);
  }
`;function Ja(e,n,t,r,o){if(n.x.length===0)return e("empty");let i=On(t.weights,1)[0]??0,a={x:D(r,o.x),prediction:D(t.prediction,o.y),at:D(n.x[i],o.x)};if(t.alone)return e("alone",a);let s=ba(t.weights);return e("summary",{...a,count:n.x.length,weight:R(t.weights[i]),sharers:s<9.95?s.toFixed(1):Math.round(s)})}function Za(e,n,t,r,o){return r===null?"":e("hover",{x:D(n.x[r],o.x),y:D(n.y[r],o.y),weight:R(t.weights[r])})}var bu=500,gu=Rn.get("gaussian"),U=class extends C{constructor(){super(...arguments);this.document=null;this.bytes=null;this.language="en";this.query=0;this.width=1;this.kernel="gaussian";this.said="";this.hovered=null;this.focused=!1;this.errors=null;this.data=Cr([],[]);this.domain={x:[0,1],y:[0,1]};this.low=.01;this.high=10;this.found=null;this.curve=null;this.curveOf="";this.drawn=0;this.dragged=!1;this.chosen=!1;this.written="";this.search=new Dn(t=>{this.errors={...t,errors:[...t.errors]}});this.resized=new ResizeObserver(()=>this.redraw());this.dark=matchMedia("(prefers-color-scheme: dark)");this.arrived=()=>{location.hash.replace(/^#/,"")!==this.written&&this.follow(location.hash)};this.redraw=()=>{cancelAnimationFrame(this.drawn),this.drawn=requestAnimationFrame(()=>this.paint())}}connectedCallback(){super.connectedCallback(),this.dark.addEventListener("change",this.redraw),addEventListener("hashchange",this.arrived)}disconnectedCallback(){super.disconnectedCallback(),this.dark.removeEventListener("change",this.redraw),removeEventListener("hashchange",this.arrived),this.search.stop(),this.resized.disconnect(),cancelAnimationFrame(this.drawn),clearTimeout(this.speaking),clearTimeout(this.addressing)}get range(){return this.domain.x}get now(){return this.found}get rule(){return Rn.get(this.kernel)??gu}get step(){return this.steps.x}get steps(){let{x:t,y:r}=this.domain;return{x:(t[1]-t[0])/200,y:(r[1]-r[0])/200}}willUpdate(t){(t.has("document")||t.has("bytes"))&&this.document?.kernel&&this.bytes&&this.open(),(t.has("kernel")||t.has("document")||t.has("bytes"))&&(this.errors=null,this.search.start(this.data,this.rule,this.low,this.high)),["document","bytes","query","width","kernel"].some(r=>t.has(r))&&(this.found=ma(this.data,this.query,this.width,this.rule),this.speakSoon(),this.writeSoon()),t.has("language")&&(this.said=this.summary(),document.documentElement.lang=this.language==="zh"?"zh-CN":"en")}open(){let t=this.document.kernel;this.data=Cr(ge(this.bytes,t.x),ge(this.bytes,t.y));let{x:r}=this.data;this.domain=qa(this.data,t.from,t.to);let o=(r[r.length-1]??1)-(r[0]??0)||1;this.low=Math.min(o/Math.min(5e3,Math.max(100,4*r.length)),t.width),this.high=Math.max(3*o,t.width),this.width=t.width,this.kernel=Rn.get(t.kernel)?.name??"gaussian",this.query=t.from+(t.to-t.from)*.4,this.follow(location.hash)}follow(t){let r=ya(t);r.query!==null&&this.moveTo(r.query),r.width!==null&&(this.width=Math.min(Math.max(r.width,this.low),this.high)),r.kernel!==null&&(this.kernel=r.kernel),r.language!==null&&(this.language=r.language)}writeSoon(){this.hasUpdated&&(clearTimeout(this.addressing),this.addressing=setTimeout(()=>{this.written=wa(location.hash,this.query,this.width,this.kernel,this.language,this.chosen);try{history.replaceState(history.state,"",`#${this.written}`)}catch{}},250))}speak(t){this.chosen=!0,this.language=t,this.writeSoon()}moveTo(t){this.query=Math.min(Math.max(t,this.domain.x[0]),this.domain.x[1])}speakSoon(){clearTimeout(this.speaking),this.said===""?this.said=this.summary():this.speaking=setTimeout(()=>this.said=this.summary(),bu)}summary(){let t=Se(this.language);return this.found?Ja(t,this.data,this.found,this.query,this.steps):t("empty")}firstUpdated(){for(let t of this.renderRoot.querySelectorAll(".plot, .errors, .row"))this.resized.observe(t)}updated(){this.redraw()}paint(){if(!this.found||this.data.x.length===0)return;let t=Se(this.language),r=xa(this),o=this.canvas(".plot canvas");if(o){let s=new Wt(o.wide,o.high,this.domain),{hovered:l,data:c,found:d}=this;Va(o.context,s,{data:c,kernel:this.rule,width:this.width,query:this.query,attention:d,hovered:l,curve:this.curveOver(s),focused:this.focused,labels:{weight:t("weight"),hover:Za(t,c,d,l,this.steps)}},r)}let i=this.canvas(".errors canvas");i&&this.errors&&ja(i.context,i.wide,i.high,this.errors,this.low,this.high,this.width,r,t("best"));let a=this.canvas(".row canvas");a&&Ga(a.context,a.wide,a.high,this.found.weights,a.wide*devicePixelRatio),this.dataset.ready="true"}curveOver(t){let[r,o]=t.x.range(),i=`${this.kernel} ${this.width} ${r} ${o} ${this.domain.x.join()}`;if(this.curve&&this.curveOf===i)return this.curve;let a=Math.max(2,Math.ceil((o-r)/1.5)),s=Float64Array.from({length:a},(c,d)=>t.x.invert(r+(o-r)*d/(a-1))),l=s.map(c=>Lr(this.data,c,this.width,this.rule));return this.curve={x:s,y:l},this.curveOf=i,this.curve}canvas(t){return va(this.renderRoot.querySelector(t))}frameOf(t){return new Wt(t.clientWidth,t.clientHeight,this.domain)}onPointerDown(t){if(t.button!==0)return;t.currentTarget.setPointerCapture(t.pointerId),this.dragged=!0,this.onPointerMove(t)}onPointerMove(t){let r=t.currentTarget,o=r.getBoundingClientRect(),i=t.clientX-o.left-r.clientLeft,a=t.clientY-o.top-r.clientTop,s=this.frameOf(r);this.dragged?(this.hovered=null,this.moveTo(s.x.invert(i))):this.hovered=s.holds(i,a)?Wa(s,this.data,i,a):null}onPointerUp(){this.dragged=!1}onKey(t){if(t.ctrlKey||t.metaKey||t.altKey)return;let[r,o]=this.domain.x,i=this.step*(t.shiftKey?10:1),s={ArrowLeft:this.query-i,ArrowDown:this.query-i,ArrowRight:this.query+i,ArrowUp:this.query+i,PageDown:this.query-10*this.step,PageUp:this.query+10*this.step,Home:r,End:o}[t.key];s!==void 0&&(t.preventDefault(),this.moveTo(s))}render(){let t=Se(this.language);if(!this.found||this.data.x.length===0)return y`<p>${t("empty")}</p>`;let r=D(this.query,this.step);return y`
      ${this.document?Ma(this.language,this.document,o=>this.speak(o)):x}
      <main class="board">
        <div
          class="plot" role="slider" tabindex="0" aria-label=${`${t("query")}. ${t("figure")}`}
          aria-valuemin=${this.domain.x[0]} aria-valuemax=${this.domain.x[1]} aria-valuenow=${this.query}
          aria-valuetext=${`${r}: ${D(this.found.prediction,this.steps.y)}`}
          @pointerdown=${this.onPointerDown} @pointermove=${this.onPointerMove}
          @pointerup=${this.onPointerUp} @pointercancel=${this.onPointerUp}
          @pointerleave=${()=>this.hovered=null}
          @focus=${()=>this.focused=!0} @blur=${()=>this.focused=!1} @keydown=${this.onKey}
        >
          <canvas></canvas>
          <span class="hint" aria-hidden="true">${t("moveHint")}</span>
        </div>
        ${$a(this.language,{kernel:this.kernel,width:this.width,temperature:Ft(this.rule,this.width),share:Math.log(this.width/this.low)/Math.log(this.high/this.low),errors:this.errors,points:this.data.x.length},{kernel:o=>this.kernel=o,width:o=>this.width=o,share:o=>this.width=this.low*(this.high/this.low)**o})}
        ${this.softmax()}
      </main>
    `}softmax(){let t=Se(this.language),{rule:r}=this,o=Ft(r,this.width),i=o===null?t("notTemperature"):t(`asTemperature_${r.name}`,{temperature:R(o)});return y`<section class="softmax" aria-labelledby="softmax">
      <h2 id="softmax">${t("softmaxTitle")}</h2>
      <div class="scroll">${Ya(r,D(this.query,this.step),this.width,D(this.found.prediction,this.steps.y))}</div>
      <p class="temperature">${i} ${r.edge<1/0?t("edge"):x}</p>
      <div class="caption">${t("rowTitle",{count:this.data.x.length})}</div>
      <div class="row"><canvas role="img" aria-label=${t("rowLabel")}></canvas></div>
      ${Xa(t,this.data,this.found,r,this.query,this.width,this.steps)}
      <p class="line" role="status" aria-live="polite">${this.said}</p>
    </section>`}};U.styles=[W,Qa],v([M({attribute:!1})],U.prototype,"document",2),v([M({attribute:!1})],U.prototype,"bytes",2),v([M({attribute:!1})],U.prototype,"language",2),v([M({attribute:!1})],U.prototype,"query",2),v([M({attribute:!1})],U.prototype,"width",2),v([M({attribute:!1})],U.prototype,"kernel",2),v([O()],U.prototype,"said",2),v([O()],U.prototype,"hovered",2),v([O()],U.prototype,"focused",2),v([O()],U.prototype,"errors",2),U=v([q("regard-kernel")],U);var es=()=>navigator.languages??[];function Ee(e,n="",t){let r=document.createElement(e);return r.textContent=n,t?.append(r),r}function ts(e,n,t){let r=Ee("main");if(r.className="plain",r.dataset.ready="plain",Ee("h1",e?.title||"regard",r),Ee("p",n,r).setAttribute("role","alert"),!e)return r;let o=dt(t,e);for(let a of e.notes)Ee("p",a[t],r);let i=Ee("table","",r);for(let[a,s]of e.maps.entries()){let l=Ee("tr","",i);Ee("th",o[a]??"",l).scope="row";for(let{name:c,value:d}of Dt(t,s))Ee("td",`${c} ${d}`,l)}return r}async function yu(){let e=null;try{let{document:n,bytes:t}=await Wr(document);e=n;let r=Rt(null,e.language,es());if(document.documentElement.lang=r==="zh"?"zh-CN":"en",e.title&&(document.title=e.title),e.kind==="kernel"){let i=document.createElement("regard-kernel");Object.assign(i,{document:e,bytes:t,language:r}),document.body.append(i);return}if(!document.createElement("canvas").getContext("2d")){document.body.append(ts(e,g(r,"noCanvas"),r));return}let o=document.createElement("regard-attention");Object.assign(o,{document:e,bytes:t}),document.body.append(o)}catch(n){let t=n instanceof Je?n.document:e,r=Rt(null,t?.language??null,es()),o=n instanceof Error?n.message:String(n),i=n instanceof Je?g(r,"noInflate"):g(r,"broken",{why:o});document.body.append(ts(t,i,r))}}yu();
